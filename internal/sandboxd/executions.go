package sandboxd

import (
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
	events := x.Follow(0) // before it can end, and be forgotten
	defer events.Close()
	req.Env = s.egress.environment(req.Env)
	if err := command.Start(s.starter, x, req); err != nil {
		s.executions.Discard(x)
		return err
	}
	return stream(w, r, events)
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
	var after int64
	if text := r.URL.Query().Get("after"); text != "" {
		var err error
		if after, err = strconv.ParseInt(text, 10, 64); err != nil {
			after = -1 // as invalid as that
		}
	}
	events, err := s.executions.Follow(r.PathValue("id"), after)
	if err != nil {
		return err
	}
	defer events.Close()
	if events.AtEnd() {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	return stream(w, r, events)
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
