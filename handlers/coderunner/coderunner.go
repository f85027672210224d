// Package coderunner is the Code Runner: it runs what a visitor posts, in one
// sandbox whose variables persist from request to request.
package coderunner

import (
	"github.com/labstack/echo/v4"

	"sandgate/internal/cell"
	"sandgate/internal/httpapi"
	"sandgate/sandboxclient"
)

// App is the name under which the Code Runner's sandboxes belong to an owner.
const App = "coderunner"

// sandbox is the one that every visit of an owner uses.
const sandbox = "playground"

// A Handler answers the Code Runner's requests.
type Handler struct {
	open    func(owner, name string) cell.Sandbox
	maxBody int64
}

// New makes a handler that opens sandboxes with open and takes bodies of at
// most maxBody bytes.
func New(open func(owner, name string) cell.Sandbox, maxBody int64) *Handler {
	return &Handler{open: open, maxBody: maxBody}
}

// Run answers POST /run. The body is the code; ?language= says in what,
// ?timeout= how long it may run, ?onDisconnect= what becomes of it when the
// visitor leaves. Code that fails is a 200 that says so.
func (h *Handler) Run(c echo.Context) error {
	req, err := cell.ReadRequest(c, h.maxBody)
	if err != nil {
		return err
	}
	return cell.Respond(c, h.open(httpapi.Owner(c), sandbox), req, func(run *sandboxclient.Run) any {
		return cell.NewAnswer(run)
	})
}
