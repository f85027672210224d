package backups

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"

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
	if f.After, err = position(c); err != nil {
		return err
	}
	list, next, err := h.Shelf.List(c.Request().Context(), httpapi.Owner(c), f, limit)
	if err != nil {
		return err
	}
	if list == nil {
		list = []backups.Backup{}
	}
	return httpapi.JSON(c, http.StatusOK, page{list, cursor(next)})
}

type page struct {
	Backups []backups.Backup `json:"backups"`
	Next    string           `json:"next,omitempty"` // for ?after=
}

// cursor is a position in the list, as text that nobody needs to understand.
func cursor(p backups.Position) string {
	if p == (backups.Position{}) {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(p.CreatedAt.UnixMicro(), 10) + " " + p.ID))
}

func position(c echo.Context) (backups.Position, error) {
	text, ok := httpapi.Query(c, "after")
	if !ok || text == "" {
		return backups.Position{}, nil
	}
	decoded, err := base64.RawURLEncoding.DecodeString(text)
	micros, id, found := strings.Cut(string(decoded), " ")
	at, bad := strconv.ParseInt(micros, 10, 64)
	if err != nil || bad != nil || !found {
		return backups.Position{}, invalid("after is what next was in an earlier answer")
	}
	return backups.Position{CreatedAt: time.UnixMicro(at).UTC(), ID: id}, nil
}
