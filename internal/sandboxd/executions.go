package sandboxd

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"

	"sandgate/internal/sandboxd/command"
	"sandgate/internal/sandboxd/execution"
	"sandgate/sandboxclient/wire"
)

// POST /v1/exec
func (s *server) exec(w http.ResponseWriter, r *http.Request) error {
	var req wire.ExecRequest
	if err := readJSON(w, r, &req); err != nil {
		return err
	}
	x, err := s.executions.New(req.ID, execution.Exec, req.Output)
	if err != nil {
		return err
	}
	defer bind(r.Context(), x, req.Detach)()
	if err := command.Start(s.starter, x, req); err != nil {
		s.executions.Discard(x)
		return err
	}
	return stream(w, r, x.Follow(0))
}

// bind lets the execution end when its caller leaves, unless it is to go on
// alone. The caller's handler calls what it returns when it has seen the end.
func bind(caller context.Context, x *execution.Execution, detach bool) func() bool {
	if detach {
		return func() bool { return true }
	}
	return context.AfterFunc(caller, func() { x.Cancel(wire.StatusCanceled) })
}

// GET /v1/executions
func (s *server) listExecutions(w http.ResponseWriter, _ *http.Request) error {
	writeJSON(w, http.StatusOK, s.executions.List())
	return nil
}

// GET /v1/executions/{id}
func (s *server) execution(w http.ResponseWriter, r *http.Request) error {
	x, err := s.executions.Get(r.PathValue("id"))
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, x.Info())
	return nil
}

// GET /v1/executions/{id}/events?after=N
func (s *server) executionEvents(w http.ResponseWriter, r *http.Request) error {
	x, err := s.executions.Get(r.PathValue("id"))
	if err != nil {
		return err
	}
	var after int64
	if text := r.URL.Query().Get("after"); text != "" {
		after, err = strconv.ParseInt(text, 10, 64)
	}
	if err != nil || after < 0 || after > x.Info().LastSeq {
		return &wire.Error{Code: wire.CodeInvalid, Message: "The execution has no event with the number in after"}
	}
	return stream(w, r, x.Follow(after))
}

// DELETE /v1/executions/{id}
func (s *server) cancelExecution(w http.ResponseWriter, r *http.Request) error {
	if err := s.executions.Cancel(r.PathValue("id")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// stream sends events as they come, all that are there at once, until the
// terminal one or until the reader leaves.
func stream(w http.ResponseWriter, r *http.Request, events *execution.Reader) error {
	w.Header().Set("Content-Type", wire.ContentTypeEvents)
	w.WriteHeader(http.StatusOK)
	flusher := http.NewResponseController(w)
	for {
		frames, err := events.Next(r.Context())
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := w.Write(frames); err != nil {
			return nil // the reader left; there is nobody to tell
		}
		if err := flusher.Flush(); err != nil {
			return nil
		}
	}
}
