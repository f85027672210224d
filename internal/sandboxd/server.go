package sandboxd

import (
	"log/slog"
	"net/http"
	"time"

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
	files      *workspace.Workspace
	egress     egress
}

// GET /v1/health
func (s *server) health(w http.ResponseWriter, _ *http.Request) error {
	writeJSON(w, http.StatusOK, wire.Health{
		Version:   wire.Version,
		StartedAt: s.started,
		Busy:      s.executions.Busy(),
	})
	return nil
}
