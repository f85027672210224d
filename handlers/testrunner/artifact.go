package testrunner

import (
	"mime"
	"net/http"
	"net/url"
	"path"
	"strconv"

	"github.com/labstack/echo/v4"

	"sandgate/internal/httpapi"
)

// artifactPolicy keeps an artifact from doing anything, should a browser show it
// after all.
const artifactPolicy = "sandbox; default-src 'none'"

// Artifact answers GET /tests/{run}/artifacts/{name}: the file as a download. It
// is whoever's, so a browser is never to show it under the gateway's address.
func (h *Handler) Artifact(c echo.Context) error {
	name, err := artifactName(c)
	if err != nil {
		return err
	}
	a, err := h.output.Artifact(c.Request().Context(), httpapi.Owner(c), c.Param("run"), name, 0)
	if err != nil {
		return err
	}
	defer func() { _ = a.Body.Close() }() // all that we want of it was read
	header := c.Response().Header()
	header.Set("Content-Type", "application/octet-stream")
	header.Set("Content-Disposition", attachment(path.Base(name)))
	header.Set("Content-Security-Policy", artifactPolicy)
	header.Set("Cache-Control", "private, no-cache")
	header.Set("Content-Length", strconv.FormatInt(a.Size, 10))
	c.Response().WriteHeader(http.StatusOK)
	if c.Request().Method == http.MethodHead {
		return nil
	}
	return httpapi.Copy(c.Response(), a.Body)
}

// artifactName is the rest of the path, which the router has decoded unless it
// had to keep an escaped slash apart.
func artifactName(c echo.Context) (string, error) {
	name := c.Param("*")
	if c.Request().URL.RawPath == "" {
		return name, nil
	}
	name, err := url.PathUnescape(name)
	if err != nil {
		return "", invalid("The artifact's name is not a path")
	}
	return name, nil
}

// attachment names the file that a browser saves.
func attachment(name string) string {
	if value := mime.FormatMediaType("attachment", map[string]string{"filename": name}); value != "" {
		return value
	}
	return "attachment"
}
