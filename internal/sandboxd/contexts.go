package sandboxd

import (
	"context"
	"net/http"

	"sandgate/internal/sandboxd/awake"
	"sandgate/internal/sandboxd/codecontext"
	"sandgate/internal/sandboxd/execution"
	"sandgate/internal/sandboxd/kernel"
	"sandgate/internal/sandboxd/shim"
	"sandgate/sandboxclient/wire"
)

// POST /v1/run
func (s *server) runCell(w http.ResponseWriter, r *http.Request) error {
	var req wire.RunRequest
	if err := readJSON(w, r, &req); err != nil {
		return err
	}
	x, err := s.executions.New(req.ID, execution.Cell, req.Output)
	if err != nil {
		return err
	}
	events := x.Follow(0) // before it can end, and be forgotten
	defer events.Close()
	req.Context.Env = s.egress.environment(req.Context.Env)
	if err := s.contexts.Run(x, req); err != nil {
		s.executions.Discard(x)
		return err
	}
	return stream(w, r, events)
}

// GET /v1/contexts
func (s *server) listContexts(w http.ResponseWriter, _ *http.Request) error {
	writeJSON(w, http.StatusOK, s.contexts.List())
	return nil
}

// POST /v1/contexts
func (s *server) warmContext(w http.ResponseWriter, r *http.Request) error {
	var req wire.WarmRequest
	if err := readJSON(w, r, &req); err != nil {
		return err
	}
	req.Env = s.egress.environment(req.Env)
	warmed, err := s.contexts.Warm(r.Context(), req)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, warmed)
	return nil
}

// POST /v1/contexts/{id}/interrupt
func (s *server) interruptContext(w http.ResponseWriter, r *http.Request) error {
	if err := s.contexts.Interrupt(r.PathValue("id")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// DELETE /v1/contexts/{id}
func (s *server) deleteContext(w http.ResponseWriter, r *http.Request) error {
	if err := s.contexts.Delete(r.Context(), r.PathValue("id")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// interpreters starts kernels for code contexts.
func interpreters(starter shim.Starter, clock *awake.Clock, b *background) codecontext.StartFunc {
	return func(ctx context.Context, spec codecontext.Spec) (codecontext.Started, error) {
		k, err := kernel.Start(ctx, starter, clock, kernel.Spec(spec))
		if err != nil {
			return codecontext.Started{}, err
		}
		return codecontext.Started{Interpreter: interpreter{k, b}, Engine: k.Engine(), Failed: k.Failed()}, nil
	}
}

// An interpreter is a kernel as code contexts see it.
type interpreter struct {
	*kernel.Kernel
	background *background
}

func (i interpreter) Run(ctx context.Context, cell codecontext.Cell, emit func(wire.Event)) wire.Exit {
	i.background.note(i.Kernel)
	return i.Kernel.Run(ctx, kernel.Cell(cell), emit)
}
