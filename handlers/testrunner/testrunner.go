// Package testrunner is the Test Runner: it takes the address of a repository,
// answers with the events of the run as they come, and knows the runs that were.
package testrunner

import (
	"context"
	"iter"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"sandgate/internal/httpapi"
	"sandgate/internal/runlog"
	"sandgate/internal/runs"
	"sandgate/internal/sse"
	"sandgate/sandboxclient"
)

// App is the name under which the Test Runner's sandboxes belong to an owner.
const App = runs.App

// Runs is what the handler needs of the engine for runs as a whole. What is not
// the owner's is not_found.
type Runs interface {
	Start(ctx context.Context, owner string, req runs.Request) (runs.Summary, error)
	Get(ctx context.Context, owner, id string) (runs.Summary, error)
	List(ctx context.Context, owner string, after runs.Position, limit int) ([]runs.Summary, runs.Position, error)
	Cancel(ctx context.Context, owner, id string) error
}

// Output is what the handler needs of the engine for what runs say and leave.
type Output interface {
	Events(ctx context.Context, owner, id string, after int64) iter.Seq2[runlog.Line, error]
	Artifact(ctx context.Context, owner, id, name string, offset int64) (runs.Attachment, error)
}

// A Handler answers requests about runs.
type Handler struct {
	runs   Runs
	output Output
}

// New makes a handler on an engine's runs and what they say.
func New(runs Runs, output Output) *Handler { return &Handler{runs, output} }

// Start answers POST /tests: the body is a repository's address, or JSON. The
// answer is the run's events, or 202 and its summary to who asks for JSON.
func (h *Handler) Start(c echo.Context) error {
	o, err := readOrder(c)
	if err != nil {
		return err
	}
	o.request.Apps = httpapi.Identity(c).Apps
	asJSON := httpapi.Prefers(c, "application/json", "text/event-stream")
	if asJSON && o.cancelOnLeave {
		return invalid("onDisconnect=cancel makes no sense with a JSON answer, which nobody watches")
	}
	s, err := h.runs.Start(c.Request().Context(), httpapi.Owner(c), o.request)
	if err != nil {
		return err
	}
	c.Response().Header().Set("Location", runs.Path(s.ID))
	if asJSON {
		return httpapi.JSON(c, http.StatusAccepted, s)
	}
	if o.cancelOnLeave {
		defer h.cancelIfLeft(c, s.ID)
	}
	return h.stream(c, s.ID, 0)
}

// cancelTime bounds the word that a run is to end.
const cancelTime = 5 * time.Second

// cancelIfLeft ends a run whose viewer has left. One that is cut off because the
// gateway stops has not.
func (h *Handler) cancelIfLeft(c echo.Context, id string) {
	ctx := c.Request().Context()
	if ctx.Err() == nil || sandboxclient.CodeOf(context.Cause(ctx)) == sandboxclient.CodeUnavailable {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
	defer cancel()
	_ = h.runs.Cancel(ctx, httpapi.Owner(c), id) // a run that is not there needs no end
}

// List answers GET /tests: the owner's runs, newest first, ?limit= of them,
// after those before ?after=.
func (h *Handler) List(c echo.Context) error {
	limit, err := httpapi.QueryNumber(c, "limit", 1, 100, 20)
	if err != nil {
		return err
	}
	var after runs.Position
	if after.CreatedAt, after.ID, err = httpapi.QueryCursor(c); err != nil {
		return err
	}
	list, next, err := h.runs.List(c.Request().Context(), httpapi.Owner(c), after, limit)
	if err != nil {
		return err
	}
	return httpapi.JSON(c, http.StatusOK, page{list, httpapi.Cursor(next.CreatedAt, next.ID)})
}

type page struct {
	Runs []runs.Summary `json:"runs"`
	Next string         `json:"next,omitempty"` // for ?after=
}

// Get answers GET /tests/{run}.
func (h *Handler) Get(c echo.Context) error {
	s, err := h.runs.Get(c.Request().Context(), httpapi.Owner(c), c.Param("run"))
	if err != nil {
		return err
	}
	return httpapi.JSON(c, http.StatusOK, s)
}

// Cancel answers DELETE /tests/{run}: whatever it runs ends, which its events
// tell.
func (h *Handler) Cancel(c echo.Context) error {
	if err := h.runs.Cancel(c.Request().Context(), httpapi.Owner(c), c.Param("run")); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// Events answers GET /tests/{run}/events with those after Last-Event-ID or
// ?after=, from the first one on and to the end, however long ago that was. Any
// number may watch; leaving ends nothing.
func (h *Handler) Events(c echo.Context) error {
	after, err := sse.After(c)
	if err != nil {
		return err
	}
	return h.stream(c, c.Param("run"), after)
}

func (h *Handler) stream(c echo.Context, id string, after int64) error {
	owner := httpapi.Owner(c)
	return sse.Messages(c, func(ctx context.Context) iter.Seq2[sse.Message, error] {
		return func(yield func(sse.Message, error) bool) {
			for line, err := range h.output.Events(ctx, owner, id, after) {
				if !yield(sse.Message{Seq: line.Seq, Data: string(line.Event)}, err) {
					return
				}
			}
		}
	})
}

func invalid(format string, args ...any) error {
	return sandboxclient.Errorf(sandboxclient.CodeInvalid, format, args...)
}
