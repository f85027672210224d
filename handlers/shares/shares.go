// Package shares makes links that let whoever has one look at one run, file or
// directory of an owner, for a while.
package shares

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"sandgate/internal/httpapi"
	"sandgate/internal/identity"
	"sandgate/internal/runs"
	"sandgate/sandboxclient"
)

// App is the name under which links are known, and Prefix begins their paths.
const (
	App    = "shares"
	Prefix = "/s/"
)

const (
	maxBody    = 16 << 10
	defaultTTL = 24 * time.Hour
	maxTTL     = 30 * 24 * time.Hour
	maxPath    = 4096 // as Workspace Files has it
)

// Runs says whether a run is the owner's; one that is not is not_found.
type Runs interface {
	Get(ctx context.Context, owner, id string) (runs.Summary, error)
}

// Workspace is what a look needs of the sandbox that holds an owner's files.
type Workspace interface {
	Exists() bool
	Running() bool
	Stat(ctx context.Context, path string) (sandboxclient.FileInfo, error)
}

// A Handler answers requests for links.
type Handler struct {
	sharer *identity.Sharer
	runs   Runs
	open   func(owner string) Workspace // nil: nobody looks
}

// New makes a handler that has links sealed.
func New(sharer *identity.Sharer, runs Runs) *Handler { return &Handler{sharer: sharer, runs: runs} }

// Look has the handler refuse files and directories that are known not to exist, by
// the workspace that open gives.
func (h *Handler) Look(open func(owner string) Workspace) *Handler {
	h.open = open
	return h
}

// order is what is to be shared: one of three, and for how long.
type order struct {
	Run  string          `json:"run"`
	File *string         `json:"file"`
	Dir  *string         `json:"dir"`
	TTL  json.RawMessage `json:"ttl"` // seconds, or a Go duration
}

// link is the answer.
type link struct {
	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// Create answers POST /v1/shares {"run"} or {"file"} or {"dir"}, with "ttl".
func (h *Handler) Create(c echo.Context) error {
	body, err := httpapi.ReadBody(c, maxBody)
	if err != nil {
		return err
	}
	var o order
	if err := httpapi.DecodeJSON(body, &o); err != nil {
		return err
	}
	ttl, err := lasting(o.TTL)
	if err != nil {
		return err
	}
	id := httpapi.Identity(c)
	share := identity.Share{Owner: httpapi.Owner(c), Key: id.Key}
	if share.Kind, share.Target, err = h.target(c, o); err != nil {
		return err
	}
	expires := time.Now().Add(ttl).Truncate(time.Second)
	share.Expires = expires.Unix()
	token := h.sharer.Seal(share)
	if len(token) > identity.MaxLink { // a path whose signs take several bytes each in it
		return invalid("The path is too long for a link")
	}
	return httpapi.JSON(c, http.StatusCreated, link{URL: Prefix + token, ExpiresAt: expires.UTC()})
}

// target finds what is to be shared; it has to be exactly one thing.
func (h *Handler) target(c echo.Context, o order) (kind, target string, err error) {
	id := httpapi.Identity(c)
	switch {
	case o.Run != "" && o.File == nil && o.Dir == nil:
		if err := id.Allow(runs.App, http.MethodGet); err != nil {
			return "", "", err
		}
		httpapi.Concerns(c, runs.App, o.Run)
		_, err = h.runs.Get(c.Request().Context(), httpapi.Owner(c), o.Run)
		return identity.ShareRun, o.Run, err
	case o.Run == "" && (o.File == nil) != (o.Dir == nil):
		if err := id.Allow("files", http.MethodGet); err != nil {
			return "", "", err
		}
		httpapi.Concerns(c, "files", "files")
		kind, typed := identity.ShareFile, o.File
		if typed == nil {
			kind, typed = identity.ShareDir, o.Dir
		}
		path, inside := sandboxclient.ResolveWorkspacePath(*typed)
		if !inside || strings.ContainsRune(path, 0) {
			return "", "", invalid("Paths must stay inside /workspace")
		}
		if len(path) > maxPath {
			return "", "", invalid("The path is longer than %d bytes", maxPath)
		}
		return kind, path, h.present(c, path)
	}
	return "", "", wrong()
}

// present refuses a path where nothing is. A link is not worth a sandbox, nor a wake:
// of one that does not run it is not known, and the link may be for what comes.
func (h *Handler) present(c echo.Context, path string) error {
	if h.open == nil {
		return nil
	}
	workspace := h.open(httpapi.Owner(c))
	missing := !workspace.Exists()
	if !missing && workspace.Running() {
		_, err := workspace.Stat(c.Request().Context(), path)
		missing = sandboxclient.CodeOf(err) == sandboxclient.CodeNotFound
	}
	if missing {
		return sandboxclient.Errorf(sandboxclient.CodeNotFound, "There is no such file or directory")
	}
	return nil
}

func wrong() error {
	return invalid(`Say in JSON what to share, one of {"run":"ID"}, {"file":"PATH"} and {"dir":"PATH"}, and with "ttl" for how long`)
}

func invalid(format string, args ...any) error {
	return sandboxclient.Errorf(sandboxclient.CodeInvalid, format, args...)
}

// lasting reads how long a link is to last.
func lasting(raw json.RawMessage) (time.Duration, error) {
	text := strings.Trim(string(raw), `"`)
	if text == "" || text == "null" {
		return defaultTTL, nil
	}
	ttl, ok := httpapi.ParseDuration(text)
	if !ok || ttl < time.Second || ttl > maxTTL {
		return 0, invalid("ttl is a time from 1 second to %d days, in seconds or as 12h, 3d", int(maxTTL.Hours()/24))
	}
	return ttl, nil
}
