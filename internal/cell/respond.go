package cell

import (
	"context"
	"iter"
	"net/http"

	"github.com/labstack/echo/v4"

	"sandgate/internal/httpapi"
	"sandgate/internal/sse"
	"sandgate/sandboxclient"
)

// Sandbox is what it takes to run a cell.
type Sandbox interface {
	RunCode(ctx context.Context, code string, opts sandboxclient.RunOptions) (*sandboxclient.Run, error)
	RunCodeStream(ctx context.Context, code string, opts sandboxclient.RunOptions) iter.Seq2[sandboxclient.Event, error]
}

// Respond runs a cell and answers with its events, if the client asks for them,
// or else with what render makes of the whole. Location names the execution.
func Respond(c echo.Context, s Sandbox, req Request, render func(*sandboxclient.Run) any) error {
	c.Response().Header().Set("Location", "/executions/"+req.Options.Execution)
	if httpapi.AcceptsEvents(c) {
		return sse.Stream(c, func(ctx context.Context) iter.Seq2[sandboxclient.Event, error] {
			return s.RunCodeStream(ctx, req.Code, req.Options)
		})
	}
	run, err := s.RunCode(c.Request().Context(), req.Code, req.Options)
	if err != nil {
		return err
	}
	return httpapi.JSON(c, http.StatusOK, render(run))
}
