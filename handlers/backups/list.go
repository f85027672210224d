package backups

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"sandgate/internal/backups"
	"sandgate/internal/httpapi"
)

// List answers GET /v1/backups: the owner's, newest first, of ?app= and ?name=
// where these are given, ?limit= of them, after those before ?after=. Those of apps
// that the key is not for are left out.
func (h *Handler) List(c echo.Context) error {
	limit, err := httpapi.QueryNumber(c, "limit", 1, 1000, 100)
	if err != nil {
		return err
	}
	f := backups.Filter{Apps: httpapi.Identity(c).Apps}
	f.App, _ = httpapi.Query(c, "app")
	f.Name, _ = httpapi.Query(c, "name")
	if f.After.CreatedAt, f.After.ID, err = httpapi.QueryCursor(c); err != nil {
		return err
	}
	list, next, err := h.Shelf.List(c.Request().Context(), httpapi.Owner(c), f, limit)
	if err != nil {
		return err
	}
	if list == nil {
		list = []backups.Backup{}
	}
	return httpapi.JSON(c, http.StatusOK, page{list, httpapi.Cursor(next.CreatedAt, next.ID)})
}

type page struct {
	Backups []backups.Backup `json:"backups"`
	Next    string           `json:"next,omitempty"` // for ?after=
}
