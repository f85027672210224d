// Package coderunner is the Code Runner: it runs what a visitor posts, in one
// sandbox whose variables persist from request to request, or in a fresh one
// that is gone after the answer.
package coderunner

import (
	"context"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"sandgate/internal/cell"
	"sandgate/internal/httpapi"
	"sandgate/sandboxclient"
)

// App is the name under which the Code Runner's sandboxes belong to an owner.
const App = "coderunner"

// Playground is the sandbox that every visit of an owner uses. Every other one
// is fresh: nothing of it is to outlive its one run.
const Playground = "playground"

// destroyTime bounds the end of a fresh sandbox.
const destroyTime = 30 * time.Second

// Sandbox is what the Code Runner needs of a sandbox.
type Sandbox interface {
	cell.Sandbox
	Destroy(ctx context.Context, workspace sandboxclient.Workspace) error
	DeleteContext(ctx context.Context, codeContext string) error
}

// A Handler answers the Code Runner's requests.
type Handler struct {
	open    func(owner, name string) Sandbox
	maxBody int64
}

// New makes a handler that opens sandboxes with open and takes bodies of at
// most maxBody bytes.
func New(open func(owner, name string) Sandbox, maxBody int64) *Handler {
	return &Handler{open: open, maxBody: maxBody}
}

// Run answers POST /run. The body is the code; ?language= says in what,
// ?timeout= how long it may run, ?onDisconnect= what becomes of it when the
// visitor leaves, ?fresh=true that it gets a sandbox of its own. Code that
// fails is a 200 that says so.
func (h *Handler) Run(c echo.Context) error {
	fresh, err := httpapi.QueryBool(c, "fresh")
	if err != nil {
		return err
	}
	req, err := cell.ReadRequest(c, h.maxBody)
	if err != nil {
		return err
	}
	if fresh {
		return h.runFresh(c, req)
	}
	return respond(c, h.open(httpapi.Owner(c), Playground), req)
}

func respond(c echo.Context, s cell.Sandbox, req cell.Request) error {
	return cell.Respond(c, s, req, func(run *sandboxclient.Run) any { return cell.NewAnswer(run) })
}

// runFresh runs a cell in a sandbox that nobody used and nobody will: it is
// destroyed after the answer, for which the visitor need not wait, and when the
// visitor leaves.
func (h *Handler) runFresh(c echo.Context, req cell.Request) error {
	if req.Options.Detach {
		return sandboxclient.Errorf(sandboxclient.CodeInvalid, "A fresh sandbox ends with its visitor: onDisconnect=continue makes no sense with fresh=true")
	}
	s := h.open(httpapi.Owner(c), "fresh-"+uuid.NewString())
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request().Context()), destroyTime)
		defer cancel()
		// The answer has been given; what fails here is logged by the client, and
		// tried again by its reaper, or by the next start if this gateway is killed.
		_ = s.Destroy(ctx, sandboxclient.RemoveWorkspace)
	}()
	if err := respond(c, s, req); err != nil {
		return err
	}
	return httpapi.Flush(c)
}

// Restart answers DELETE /run: the interpreter of ?language= ends with all it
// started, and the next run finds no variables. Files stay.
func (h *Handler) Restart(c echo.Context) error {
	language, err := cell.Language(c)
	if err != nil {
		return err
	}
	box := h.open(httpapi.Owner(c), Playground)
	if err := box.DeleteContext(c.Request().Context(), sandboxclient.DefaultContext(language)); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
