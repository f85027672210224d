package files

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"sandgate/internal/httpapi"
	"sandgate/sandboxclient"
)

// saved is the answer to a file that was stored.
type saved struct {
	Saved string `json:"saved"`
	Size  int64  `json:"size"`
	ETag  string `json:"etag,omitempty"`
}

// Put answers PUT /files?path=. The body becomes the file, as a whole or not
// at all; parents are made. If-Match and If-None-Match guard against
// overwriting what the client has not seen.
func (h *Handler) Put(c echo.Context) error {
	sandbox, path, err := h.target(c)
	if err != nil {
		return err
	}
	header := c.Request().Header
	if header.Get("Content-Range") != "" { // storing the part as the whole would lose the rest
		return sandboxclient.Errorf(sandboxclient.CodeInvalid, "A part of a file cannot be stored; send all of it, without Content-Range")
	}
	body, err := httpapi.OpenBody(c, h.maxUpload)
	if err != nil {
		return err
	}
	info, err := sandbox.WriteFile(c.Request().Context(), path, body, sandboxclient.WriteOptions{
		IfMatch:     header.Get("If-Match"),
		IfNoneMatch: header.Get("If-None-Match"),
		MaxBytes:    h.maxUpload,
	})
	if body.Err() != nil {
		return body.Err()
	}
	if err != nil {
		return err
	}
	if info.ETag != "" {
		c.Response().Header().Set("ETag", info.ETag)
	}
	return httpapi.JSON(c, http.StatusOK, saved{Saved: path, Size: info.Size, ETag: info.ETag})
}

// Delete answers DELETE /files?path=. A directory that is not empty needs
// recursive=true; /workspace itself stays.
func (h *Handler) Delete(c echo.Context) error {
	sandbox, path, err := h.target(c)
	if err != nil {
		return err
	}
	recursive, err := httpapi.QueryBool(c, "recursive")
	if err != nil {
		return err
	}
	if err := sandbox.RemoveFile(c.Request().Context(), path, recursive); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
