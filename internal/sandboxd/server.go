package sandboxd

import (
	"context"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync/atomic"
	"time"

	"sandgate/internal/sandboxd/archive"
	"sandgate/internal/sandboxd/codecontext"
	"sandgate/internal/sandboxd/execution"
	"sandgate/internal/sandboxd/shim"
	"sandgate/internal/sandboxd/workspace"
	"sandgate/sandboxclient/wire"
)

// A server answers the gateway's requests.
type server struct {
	log        *slog.Logger
	started    time.Time
	pool       *shim.Pool
	starter    shim.Starter // the pool, with a guard around it
	executions *execution.Registry
	contexts   *codecontext.Set
	background *background
	files      *workspace.Workspace
	archives   *archive.Archiver
	egress     egress
	lived      atomic.Bool // something was done here that a template never does
}

// POST /v1/sleep
func (s *server) sleep(w http.ResponseWriter, _ *http.Request) error {
	if err := s.executions.Settle(); err != nil { // the sleep takes longer then
		s.log.Warn("what was printed lies on the disk without a name", "cause", loggable(err))
	}
	debug.FreeOSMemory() // or the checkpoint holds it
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// DELETE /v1/sleep
func (s *server) stayAwake(w http.ResponseWriter, _ *http.Request) error {
	s.rise()
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// rise hides what was given a name for a sleep.
func (s *server) rise() {
	if err := s.executions.Rise(); err != nil {
		s.log.Warn("what was printed has a name", "cause", loggable(err))
	}
}

// moved says that the sandbox was restored from another's checkpoint, or under a
// new token from its own. The first request is yet to come.
func (s *server) moved(ctx context.Context) {
	s.contexts.Moved()
	s.rise()
	if s.lived.Load() { // it is the sandbox that it was, and so is its workspace
		return
	}
	tidy(ctx, s.files, s.log)
}

// GET /v1/health
func (s *server) health(w http.ResponseWriter, _ *http.Request) error {
	left, err := s.background.count()
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, wire.Health{
		Version:    wire.Version,
		StartedAt:  s.started,
		Busy:       s.executions.Busy(),
		Background: left,
	})
	return nil
}
