package notebook

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"sandgate/internal/cell"
	"sandgate/internal/httpapi"
	"sandgate/sandboxclient"
)

// stateNone is the state of a notebook that has no kernel: the next cell
// starts one.
const stateNone = "none"

// state is a notebook as GET /notebook tells it.
type state struct {
	Notebook       string     `json:"notebook"`
	Language       string     `json:"language"`
	State          string     `json:"state"` // none, starting, idle, busy, dead or hibernated
	Engine         string     `json:"engine,omitempty"`
	ExecutionCount *int       `json:"executionCount,omitempty"` // only its kernel knows
	Queued         int        `json:"queued"`                   // cells that wait for their turn
	Generation     int        `json:"generation"`               // kernels this notebook ever had
	CreatedAt      *time.Time `json:"createdAt,omitempty"`
	LastUsed       *time.Time `json:"lastUsed,omitempty"`
	Died           string     `json:"died,omitempty"` // why the last kernel ended
}

// State answers GET /notebook. It starts nothing.
func (h *Handler) State(c echo.Context) error {
	sandbox, name, err := h.notebook(c)
	if err != nil {
		return err
	}
	language, err := cell.Language(c)
	if err != nil {
		return err
	}
	codeContext := sandboxclient.DefaultContext(language)
	ctx := c.Request().Context()
	contexts, err := sandbox.Contexts(ctx)
	if err != nil {
		return err
	}
	generation, err := sandbox.Generation(ctx, codeContext)
	if err != nil {
		return err
	}
	s := state{Notebook: name, Language: language, State: stateNone, Generation: generation}
	if sandbox.State() == sandboxclient.StateHibernated {
		s.State = sandboxclient.StateHibernated
	}
	for _, kernel := range contexts {
		if kernel.ID == codeContext {
			s.describe(kernel)
		}
	}
	return httpapi.JSON(c, http.StatusOK, s)
}

func (s *state) describe(kernel sandboxclient.CodeContext) {
	s.State = kernel.State
	s.Engine = kernel.Engine
	s.ExecutionCount = &kernel.ExecutionCount
	s.Queued = kernel.Queued
	s.CreatedAt = &kernel.CreatedAt
	s.LastUsed = &kernel.LastUsed
	s.Died = kernel.Died
}

// Interrupt answers POST /notebook/interrupt: it ends the cell that runs, and
// keeps the variables. When nothing runs it is a 409.
func (h *Handler) Interrupt(c echo.Context) error {
	sandbox, codeContext, err := h.codeContext(c)
	if err != nil {
		return err
	}
	err = sandbox.InterruptContext(c.Request().Context(), codeContext)
	if sandboxclient.CodeOf(err) == sandboxclient.CodeNotFound {
		return sandboxclient.Errorf(sandboxclient.CodeConflict, "Nothing is running in this notebook")
	}
	if err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// Restart answers DELETE /notebook: the kernel ends with all it started, and
// the next cell finds no variables. Files stay, unless ?files=true.
func (h *Handler) Restart(c echo.Context) error {
	sandbox, codeContext, err := h.codeContext(c)
	if err != nil {
		return err
	}
	files, err := httpapi.QueryBool(c, "files")
	if err != nil {
		return err
	}
	if files {
		if err := sandbox.Destroy(c.Request().Context(), sandboxclient.RemoveWorkspace); err != nil {
			return err
		}
		return c.NoContent(http.StatusNoContent)
	}
	if err := sandbox.DeleteContext(c.Request().Context(), codeContext); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// codeContext opens the notebook that the query names, and names the context
// of its language.
func (h *Handler) codeContext(c echo.Context) (Sandbox, string, error) {
	sandbox, _, err := h.notebook(c)
	if err != nil {
		return nil, "", err
	}
	language, err := cell.Language(c)
	return sandbox, sandboxclient.DefaultContext(language), err
}
