// Package backups answers requests about backups: it has directories of
// sandboxes kept and put back, and moves them out and in as archives.
package backups

import (
	"context"
	"io"
	"net/http"

	"github.com/labstack/echo/v4"

	"sandgate/internal/backups"
	"sandgate/internal/httpapi"
	"sandgate/sandboxclient"
)

// App is what backups are called in metrics and in the log; they have no
// sandboxes of their own.
const App = "backups"

// Keeper makes backups and puts them back.
type Keeper interface {
	Create(ctx context.Context, ref sandboxclient.Ref, req backups.Request, tell backups.Progress) (backups.Backup, error)
	Restore(ctx context.Context, id string, to sandboxclient.Ref, dir string, tell backups.Progress) (backups.Restored, error)
}

// Shelf is where they are found. What is not the owner's is not_found.
type Shelf interface {
	Get(ctx context.Context, owner, id string) (backups.Backup, error)
	List(ctx context.Context, owner string, f backups.Filter, limit int) ([]backups.Backup, backups.Position, error)
	Delete(ctx context.Context, owner, id string) error
}

// Sandbox is what moving an archive needs of a sandbox.
type Sandbox interface {
	Archive(ctx context.Context, dir string, o sandboxclient.ArchiveOptions) (*sandboxclient.Archive, error)
	Restore(ctx context.Context, dir string, body io.Reader, o sandboxclient.RestoreOptions) (sandboxclient.Restored, error)
}

// Options say what a Handler works with. All are required.
type Options struct {
	Keeper Keeper
	Shelf  Shelf
	// Ref says which sandbox of an owner an app and a name mean; an empty name is
	// the app's usual one.
	Ref        func(owner, app, name string) (sandboxclient.Ref, error)
	Open       func(sandboxclient.Ref) Sandbox
	MaxArchive int64 // bytes of an archive that is sent to us
}

// A Handler answers requests about backups and archives.
type Handler struct{ Options }

// New makes a handler.
func New(o Options) *Handler { return &Handler{o} }

// Create answers POST /v1/backups: 201 and the backup, or its progress to who
// asks for events.
func (h *Handler) Create(c echo.Context) error {
	o, err := readOrder(c)
	if err != nil {
		return err
	}
	ref, err := h.ref(c, o.app, o.name)
	if err != nil {
		return err
	}
	if httpapi.AcceptsEvents(c) {
		return follow(c, "backup", func(ctx context.Context, tell backups.Progress) (any, error) {
			b, err := h.Keeper.Create(ctx, ref, o.request, tell)
			httpapi.Made(c, b.ID)
			return b, err
		})
	}
	b, err := h.Keeper.Create(c.Request().Context(), ref, o.request, nil)
	if err != nil {
		return err
	}
	c.Response().Header().Set("Location", backups.Path(b.ID))
	return httpapi.JSON(c, http.StatusCreated, b)
}

// ref says which sandbox an app and a name mean. One of an app that the key is
// not for is not there.
func (h *Handler) ref(c echo.Context, app, name string) (sandboxclient.Ref, error) {
	ref, err := h.Ref(httpapi.Owner(c), app, name)
	httpapi.Concerns(c, ref.App, ref.Name)
	if err == nil && !httpapi.Identity(c).Reaches(ref.App) {
		err = sandboxclient.Errorf(sandboxclient.CodeNotFound, "There is no such sandbox")
	}
	return ref, err
}

// find gives the backup that a request names. One of an app that the key is not
// for is like one that is not there.
func (h *Handler) find(c echo.Context) (backups.Backup, error) {
	b, err := h.Shelf.Get(c.Request().Context(), httpapi.Owner(c), c.Param("id"))
	if err == nil && !httpapi.Identity(c).Reaches(b.App) {
		err = backups.ErrNotFound
	}
	return b, err
}

// Get answers GET /v1/backups/{id}.
func (h *Handler) Get(c echo.Context) error {
	b, err := h.find(c)
	if err != nil {
		return err
	}
	return httpapi.JSON(c, http.StatusOK, b)
}

// Delete answers DELETE /v1/backups/{id}.
func (h *Handler) Delete(c echo.Context) error {
	b, err := h.find(c)
	if err != nil {
		return err
	}
	if err := h.Shelf.Delete(c.Request().Context(), httpapi.Owner(c), b.ID); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// Restore answers POST /v1/backups/{id}/restore: the directory becomes what it
// was. Without a body it is the backup's own one.
func (h *Handler) Restore(c echo.Context) error {
	target, err := readTarget(c)
	if err != nil {
		return err
	}
	b, err := h.find(c)
	if err != nil {
		return err
	}
	target.complete(b)
	ref, err := h.ref(c, target.App, target.Name)
	if err != nil {
		return err
	}
	if httpapi.AcceptsEvents(c) {
		return follow(c, "restored", func(ctx context.Context, tell backups.Progress) (any, error) {
			return h.Keeper.Restore(ctx, b.ID, ref, target.Dir, tell)
		})
	}
	restored, err := h.Keeper.Restore(c.Request().Context(), b.ID, ref, target.Dir, nil)
	if err != nil {
		return err
	}
	return httpapi.JSON(c, http.StatusOK, restored)
}

func invalid(format string, args ...any) error {
	return sandboxclient.Errorf(sandboxclient.CodeInvalid, format, args...)
}
