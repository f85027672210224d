// Package executions answers for executions, running or kept: their state,
// their events, and their end on request.
package executions

import (
	"context"
	"iter"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"sandgate/internal/httpapi"
	"sandgate/internal/sse"
	"sandgate/sandboxclient"
)

// App is the name under which requests about executions are counted and logged.
const App = "executions"

// Executions is what the handler needs of the client. What is not the owner's
// is not_found.
type Executions interface {
	Execution(ctx context.Context, owner, id string) (sandboxclient.Execution, error)
	FollowExecution(ctx context.Context, owner, id string, after int64) iter.Seq2[sandboxclient.Event, error]
	CancelExecution(ctx context.Context, owner, id string) error
	ExecutionApp(owner, id string) (string, error)
}

// A Handler answers requests about executions.
type Handler struct{ executions Executions }

// New makes a handler on the client's executions.
func New(executions Executions) *Handler { return &Handler{executions} }

// find gives the execution that a request names. One of an app that the key is
// not for is like one that is not there.
func (h *Handler) find(c echo.Context) (owner, id string, err error) {
	owner, id = httpapi.Owner(c), c.Param("id")
	app, err := h.executions.ExecutionApp(owner, id)
	if err == nil && !httpapi.Identity(c).Reaches(app) {
		err = sandboxclient.NoExecution()
	}
	return owner, id, err
}

// state is an execution as GET tells it.
type state struct {
	ID         string                   `json:"id"`
	Kind       string                   `json:"kind"`  // exec or cell
	State      string                   `json:"state"` // running or ended
	CreatedAt  time.Time                `json:"createdAt"`
	FirstEvent int64                    `json:"firstEvent"` // the oldest that is still kept
	LastEvent  int64                    `json:"lastEvent"`
	Status     sandboxclient.Status     `json:"status,omitempty"`
	ExitCode   *int                     `json:"exitCode,omitempty"`
	Signal     string                   `json:"signal,omitempty"`
	DurationMS float64                  `json:"durationMs,omitempty"`
	Error      *sandboxclient.CodeError `json:"error,omitempty"`
	Truncated  bool                     `json:"truncated,omitempty"`
}

// Get answers GET /executions/{id}.
func (h *Handler) Get(c echo.Context) error {
	owner, id, err := h.find(c)
	if err != nil {
		return err
	}
	x, err := h.executions.Execution(c.Request().Context(), owner, id)
	if err != nil {
		return err
	}
	return httpapi.JSON(c, http.StatusOK, newState(x))
}

func newState(x sandboxclient.Execution) state {
	s := state{
		ID: x.ID, Kind: x.Kind, State: "running", CreatedAt: x.CreatedAt,
		FirstEvent: x.FirstSeq, LastEvent: x.LastSeq,
	}
	if x.Exit != nil || x.Error != nil {
		s.State = "ended"
	}
	if exit := x.Exit; exit != nil {
		s.Status, s.ExitCode, s.Signal = exit.Status, &exit.ExitCode, exit.Signal
		s.DurationMS, s.Error, s.Truncated = exit.DurationMS, exit.Error, exit.Truncated
	}
	return s
}

// Events answers GET /executions/{id}/events with those after Last-Event-ID or
// ?after=, kept and to come. Any number may watch; leaving ends nothing.
func (h *Handler) Events(c echo.Context) error {
	after, err := sse.After(c)
	if err != nil {
		return err
	}
	owner, id, err := h.find(c)
	if err != nil {
		return err
	}
	return sse.Stream(c, func(ctx context.Context) iter.Seq2[sandboxclient.Event, error] {
		return h.executions.FollowExecution(ctx, owner, id, after)
	})
}

// Cancel answers DELETE /executions/{id}: its whole process tree ends, which
// its events tell.
func (h *Handler) Cancel(c echo.Context) error {
	owner, id, err := h.find(c)
	if err != nil {
		return err
	}
	if err := h.executions.CancelExecution(c.Request().Context(), owner, id); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
