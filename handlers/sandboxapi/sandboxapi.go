// Package sandboxapi answers what this gateway is able to do.
package sandboxapi

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"sandgate/internal/httpapi"
	"sandgate/sandboxclient"
	"sandgate/sandboxclient/selftest"
)

// App is the name under which these requests are counted and logged.
const App = "sandboxapi"

// A Document says what was found out when the gateway started.
type Document struct {
	Version   string                `json:"version"`
	Isolation Isolation             `json:"isolation"`
	Engine    sandboxclient.Engine  `json:"engine"`
	Limits    []sandboxclient.Limit `json:"limits"`
	Languages []selftest.Language   `json:"languages"`
	Egress    Egress                `json:"egress"`
	Warnings  []string              `json:"warnings"`
}

// Isolation is what a sandbox was found to be, seen from inside.
type Isolation struct {
	Proven bool             `json:"proven"`
	Checks []selftest.Check `json:"checks"`
}

// Egress is where sandboxes may connect to.
type Egress struct {
	Apps     map[string]string     `json:"apps"`               // none, allow-list or open
	Allow    []string              `json:"allow"`              // hosts for allow-list
	Private  []string              `json:"private"`            // hosts whose address need not be public
	Registry string                `json:"registry,omitempty"` // of npm
	Limits   []sandboxclient.Limit `json:"limits"`
	Notes    []string              `json:"notes"`
}

// A Handler answers with one document.
type Handler struct{ document Document }

// New makes a handler.
func New(document Document) *Handler { return &Handler{document} }

// Capabilities answers GET /v1/capabilities.
func (h *Handler) Capabilities(c echo.Context) error {
	return httpapi.JSON(c, http.StatusOK, h.document)
}
