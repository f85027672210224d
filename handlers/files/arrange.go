package files

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"sandgate/internal/httpapi"
)

// made is the answer to a directory that is there now, or to something moved.
type made struct {
	Saved string `json:"saved"`
}

// Post answers POST /files?path=. With ?from= what is there moves to path, a
// directory with all that it holds; what is at path is a conflict, or goes if
// ?replace=true. Without ?from= path becomes a directory, with its parents, or
// is one already.
func (h *Handler) Post(c echo.Context) error {
	sandbox, path, err := h.target(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	if _, moves := httpapi.Query(c, "from"); !moves {
		if _, err := sandbox.MakeDir(ctx, path); err != nil {
			return err
		}
		return httpapi.JSON(c, http.StatusOK, made{Saved: path})
	}
	from, err := workspacePath(c, "from")
	if err != nil {
		return err
	}
	replace, err := httpapi.QueryBool(c, "replace")
	if err != nil {
		return err
	}
	if _, err := sandbox.Rename(ctx, from, path, replace); err != nil {
		return err
	}
	return httpapi.JSON(c, http.StatusOK, made{Saved: path})
}
