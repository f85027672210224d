// Package files is Workspace Files: it stores, serves, lists and removes files
// of an owner's files sandbox. Bytes stay as they are, in both directions, and
// no file is ever held in memory as a whole.
package files

import (
	"context"
	"io"
	"strings"

	"github.com/labstack/echo/v4"

	"sandgate/internal/httpapi"
	"sandgate/sandboxclient"
)

// App is the name under which the files sandbox belongs to an owner, and
// SandboxName the sandbox's own. Text Search looks into the same one.
const (
	App         = "files"
	SandboxName = "files"
)

// Sandbox is what Workspace Files needs of a sandbox. Paths are absolute and
// inside /workspace.
type Sandbox interface {
	ReadFile(ctx context.Context, path string, opts sandboxclient.ReadOptions) (*sandboxclient.File, error)
	WriteFile(ctx context.Context, path string, body io.Reader, opts sandboxclient.WriteOptions) (sandboxclient.FileInfo, error)
	RemoveFile(ctx context.Context, path string, recursive bool) error
	Arranger
}

// Arranger is what it needs to put files elsewhere.
type Arranger interface {
	MakeDir(ctx context.Context, path string) (sandboxclient.FileInfo, error)
	Rename(ctx context.Context, from, to string, replace bool) (sandboxclient.FileInfo, error)
}

// A Handler answers the requests of Workspace Files.
type Handler struct {
	open      func(owner, name string) Sandbox
	maxUpload int64
}

// New makes a handler that opens sandboxes with open and takes files of at
// most maxUpload bytes.
func New(open func(owner, name string) Sandbox, maxUpload int64) *Handler {
	return &Handler{open: open, maxUpload: maxUpload}
}

// target gives what a request is about: the sandbox and the path in it.
func (h *Handler) target(c echo.Context) (Sandbox, string, error) {
	path, err := workspacePath(c, "path")
	if err != nil {
		return nil, "", err
	}
	return h.open(httpapi.Owner(c), SandboxName), path, nil
}

// What a Linux file system takes.
const (
	maxPath = 4096
	maxName = 255
)

// workspacePath reads a path from the query, which must be there and stay inside
// /workspace. Empty, it is /workspace itself.
func workspacePath(c echo.Context, name string) (string, error) {
	typed, ok := httpapi.Query(c, name)
	path, inside := sandboxclient.ResolveWorkspacePath(typed)
	if !ok || !inside {
		return "", sandboxclient.Errorf(sandboxclient.CodeInvalid, "Paths must stay inside /workspace")
	}
	if strings.ContainsRune(path, 0) {
		return "", sandboxclient.Errorf(sandboxclient.CodeInvalid, "A path cannot hold a NUL byte")
	}
	if len(path) > maxPath {
		return "", sandboxclient.Errorf(sandboxclient.CodeInvalid, "The path is longer than %d bytes", maxPath)
	}
	for name := range strings.SplitSeq(path, "/") {
		if len(name) > maxName {
			return "", sandboxclient.Errorf(sandboxclient.CodeInvalid, "A name in the path is longer than %d bytes", maxName)
		}
	}
	return path, nil
}
