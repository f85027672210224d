package backups

import (
	"context"
	"net/http"
	"path"

	"github.com/labstack/echo/v4"

	"sandgate/internal/backups"
	"sandgate/internal/httpapi"
	"sandgate/sandboxclient"
	"sandgate/sandboxclient/wire"
)

// Download answers GET /v1/archives: a directory as a tar.zst, or as a tar with
// ?format=tar. An answer that breaks off is not whole.
func (h *Handler) Download(c echo.Context) error {
	sandbox, dir, err := h.archived(c)
	if err != nil {
		return err
	}
	kind, extension := wire.ContentTypeZstd, ".tar.zst"
	o := sandboxclient.ArchiveOptions{Excludes: httpapi.QueryAll(c, "exclude")}
	if o.Gitignore, err = httpapi.QueryBool(c, "useGitignore"); err != nil {
		return err
	}
	switch format, _ := httpapi.Query(c, "format"); format {
	case "", "tar.zst":
	case "tar":
		o.Tar, kind, extension = true, wire.ContentTypeTar, ".tar"
	default:
		return invalid("format is tar.zst or tar")
	}
	archive, err := sandbox.Archive(c.Request().Context(), dir, o)
	if err != nil {
		return err
	}
	defer func() { _ = archive.Close() }() // all that we want of it was read
	header := c.Response().Header()
	header.Set("Content-Type", kind)
	header.Set("Content-Disposition", `attachment; filename="`+plainName(path.Base(dir))+extension+`"`)
	c.Response().WriteHeader(http.StatusOK)
	if c.Request().Method == http.MethodHead {
		return nil
	}
	return httpapi.Copy(c.Response(), archive)
}

// plainName makes of a directory's name one that needs no quotes.
func plainName(name string) string {
	plain := []byte(name)
	for i, b := range plain {
		if b <= ' ' || b >= 0x7f || b == '"' || b == '\\' || b == '/' {
			plain[i] = '_'
		}
	}
	return string(plain)
}

// unpacked is the answer to an archive that was taken.
type unpacked struct {
	Dir     string `json:"dir"`
	Files   int64  `json:"files"`
	Content int64  `json:"contentBytes"`
	Restart string `json:"restart,omitempty"` // why the sandbox has lost what it had in memory
}

// Upload answers PUT /v1/archives: the directory becomes what the body holds,
// which is a tar, plain or compressed by zstd or gzip; what it does not hold is
// gone. It does so in one step, or not at all.
func (h *Handler) Upload(c echo.Context) error {
	sandbox, dir, err := h.archived(c)
	if err != nil {
		return err
	}
	body, err := httpapi.OpenBody(c, h.MaxArchive)
	if err != nil {
		return err
	}
	info, err := upload(c.Request().Context(), sandbox, dir, body)
	if err != nil {
		return err
	}
	return httpapi.JSON(c, http.StatusOK, unpacked{dir, info.Files, info.Bytes, info.Restart})
}

func upload(ctx context.Context, sandbox Sandbox, dir string, body *httpapi.Body) (sandboxclient.Restored, error) {
	info, err := sandbox.Restore(ctx, dir, body, sandboxclient.RestoreOptions{Foreign: true})
	if body.Err() != nil {
		return info, body.Err()
	}
	return info, err
}

// archived gives what a request for an archive is about.
func (h *Handler) archived(c echo.Context) (Sandbox, string, error) {
	app, _ := httpapi.Query(c, "app")
	name, _ := httpapi.Query(c, "name")
	typed, _ := httpapi.Query(c, "dir")
	dir, err := backups.Dir(typed)
	if err != nil {
		return nil, "", err
	}
	ref, err := h.ref(c, app, name)
	if err != nil {
		return nil, "", err
	}
	return h.Open(ref), dir, nil
}
