// Package coderunner is the Code Runner: it runs what a visitor posts, in one
// sandbox whose variables persist from request to request.
package coderunner

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"sandgate/internal/cell"
	"sandgate/internal/httpapi"
	"sandgate/sandboxclient"
)

// App is the name under which the Code Runner's sandboxes belong to an owner.
const App = "coderunner"

// sandbox is the one that every visit of an owner uses.
const sandbox = "playground"

// Sandbox is what the Code Runner needs of a sandbox.
type Sandbox interface {
	RunCode(ctx context.Context, code string, opts sandboxclient.RunOptions) (*sandboxclient.Run, error)
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

// Run answers POST /run. The body is the code; ?language= says in what, and
// ?timeout= how long it may run. Code that fails is a 200 that says so.
func (h *Handler) Run(c echo.Context) error {
	language, err := language(c)
	if err != nil {
		return err
	}
	timeout, err := httpapi.QueryDuration(c, "timeout")
	if err != nil {
		return err
	}
	source, err := cell.Read(c, h.maxBody)
	if err != nil {
		return err
	}
	run, err := h.open(httpapi.Owner(c), sandbox).RunCode(c.Request().Context(), source.Code, sandboxclient.RunOptions{
		Language: language,
		Stdin:    source.Stdin,
		Timeout:  timeout,
	})
	if err != nil {
		return err
	}
	return httpapi.JSON(c, http.StatusOK, cell.NewAnswer(run))
}

// language reads what the code is written in; Python when nothing is said.
func language(c echo.Context) (string, error) {
	name, ok := httpapi.Query(c, "language")
	if ok && name != "python" {
		return "", sandboxclient.Errorf(sandboxclient.CodeUnsupported, "The language %.40q is not supported; python is", name)
	}
	return "python", nil
}
