package sandboxapi

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"sandgate/internal/httpapi"
	"sandgate/sandboxclient"
)

const (
	defaultPage = 100
	maxPage     = 1000
	maxListed   = 1 << 20
)

// Inventory tells of sandboxes.
type Inventory interface {
	Sandboxes(ctx context.Context, owner string) ([]sandboxclient.Info, error)
	Gauge(info sandboxclient.Info) sandboxclient.Info
}

// Sandbox is what is done with one of them.
type Sandbox interface {
	Info(ctx context.Context) (sandboxclient.Info, error)
	Hibernate(ctx context.Context) error
	Wake(ctx context.Context) error
	Destroy(ctx context.Context, workspace sandboxclient.Workspace) error
}

// Sandboxes answers for an owner's sandboxes.
type Sandboxes struct {
	inventory Inventory
	open      func(owner, app, name string) Sandbox
}

// NewSandboxes makes a handler that lists by inventory and finds sandboxes with open.
func NewSandboxes(inventory Inventory, open func(owner, app, name string) Sandbox) *Sandboxes {
	return &Sandboxes{inventory, open}
}

// sandbox is one as the API tells it.
type sandbox struct {
	App         string     `json:"app"`
	Name        string     `json:"name"`
	ID          string     `json:"id"`    // what the gateway's log calls it
	State       string     `json:"state"` // starting, running, stopping, hibernated or stopped
	CreatedAt   time.Time  `json:"createdAt"`
	LastUsed    time.Time  `json:"lastUsed"`
	SleepsAt    *time.Time `json:"sleepsAt,omitempty"`    // if nobody uses it
	DestroyedAt *time.Time `json:"destroyedAt,omitempty"` // likewise
	MemoryBytes int64      `json:"memoryBytes"`
	DiskBytes   int64      `json:"diskBytes"`
}

func describe(i sandboxclient.Info) sandbox {
	return sandbox{
		App: i.App, Name: i.Name, ID: string(i.ID), State: i.State, CreatedAt: i.CreatedAt.UTC(), LastUsed: i.LastUsed.UTC(),
		SleepsAt: orNil(i.SleepsAt), DestroyedAt: orNil(i.ExpiresAt),
		MemoryBytes: i.MemoryBytes, DiskBytes: i.DiskBytes,
	}
}

func orNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return new(t.UTC())
}

// page is a part of the list; next is the number to ask for the following one with.
type page struct {
	Sandboxes []sandbox `json:"sandboxes"`
	Next      int       `json:"next,omitempty"`
}

// List answers GET /v1/sandboxes: the last used first, a page at a time. Those of
// apps that the key is not for are left out.
func (h *Sandboxes) List(c echo.Context) error {
	limit, err := httpapi.QueryNumber(c, "limit", 1, maxPage, defaultPage)
	if err != nil {
		return err
	}
	after, err := httpapi.QueryNumber(c, "after", 0, maxListed, 0)
	if err != nil {
		return err
	}
	infos, err := h.inventory.Sandboxes(c.Request().Context(), httpapi.Owner(c))
	if err != nil {
		return err
	}
	infos = slices.DeleteFunc(infos, func(i sandboxclient.Info) bool { return !httpapi.Identity(c).Reaches(i.App) })
	p := page{Sandboxes: []sandbox{}}
	for _, info := range infos[min(after, len(infos)):min(after+limit, len(infos))] {
		p.Sandboxes = append(p.Sandboxes, describe(h.inventory.Gauge(info)))
	}
	if after+limit < len(infos) {
		p.Next = after + limit
	}
	return httpapi.JSON(c, http.StatusOK, p)
}

// Hibernate answers POST /v1/sandboxes/hibernate.
func (h *Sandboxes) Hibernate(c echo.Context) error { return h.change(c, Sandbox.Hibernate) }

// Wake answers POST /v1/sandboxes/wake.
func (h *Sandboxes) Wake(c echo.Context) error { return h.change(c, Sandbox.Wake) }

// change does something to a sandbox that exists, and tells what has become of it.
func (h *Sandboxes) change(c echo.Context, do func(Sandbox, context.Context) error) error {
	s, err := h.find(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	if err := do(s, ctx); err != nil {
		return err
	}
	info, err := s.Info(ctx)
	if err != nil {
		return err
	}
	return httpapi.JSON(c, http.StatusOK, describe(info))
}

// Destroy answers DELETE /v1/sandboxes: what runs ends and what is in memory is
// lost; files stay, unless ?files=true.
func (h *Sandboxes) Destroy(c echo.Context) error {
	files, err := httpapi.QueryBool(c, "files")
	if err != nil {
		return err
	}
	s, err := h.find(c)
	if err != nil {
		return err
	}
	workspace := sandboxclient.KeepWorkspace
	if files {
		workspace = sandboxclient.RemoveWorkspace
	}
	if err := s.Destroy(c.Request().Context(), workspace); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// find opens the sandbox that the query names; one that does not exist is not_found,
// and so is one of an app that the key is not for.
func (h *Sandboxes) find(c echo.Context) (Sandbox, error) {
	app, hasApp := httpapi.Query(c, "app")
	name, hasName := httpapi.Query(c, "name")
	if !hasApp || !hasName {
		return nil, sandboxclient.Errorf(sandboxclient.CodeInvalid, "app and name say which sandbox, as GET /v1/sandboxes lists them")
	}
	if !httpapi.Identity(c).Reaches(app) {
		return nil, sandboxclient.Errorf(sandboxclient.CodeNotFound, "There is no such sandbox")
	}
	s := h.open(httpapi.Owner(c), app, name)
	_, err := s.Info(c.Request().Context())
	return s, err
}
