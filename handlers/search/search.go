// Package search is Text Search: it greps the workspace that Workspace Files
// keeps. The term reaches grep as an argument, never through a shell.
package search

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"sandgate/internal/httpapi"
	"sandgate/sandboxclient"
)

// App is the name under which searches are counted and logged.
const App = "search"

// maxOutput is how many bytes of grep's output are looked at.
const maxOutput = 4 << 20

// Sandbox is what Text Search needs of a sandbox. Stat follows no link at the
// end of a path, and refuses those before it that lead out of /workspace.
type Sandbox interface {
	Exec(ctx context.Context, cmd sandboxclient.Command) (*sandboxclient.ExecResult, error)
	Stat(ctx context.Context, path string) (sandboxclient.FileInfo, error)
}

// A Handler answers the requests of Text Search.
type Handler struct {
	open      func(owner string) Sandbox
	maxOutput int64
}

// New makes a handler that searches the sandbox that open gives.
func New(open func(owner string) Sandbox) *Handler {
	return &Handler{open: open, maxOutput: maxOutput}
}

// answer is what a search found, in JSON.
type answer struct {
	Matches   []match `json:"matches"`
	Truncated bool    `json:"truncated"`         // there is more
	Partial   bool    `json:"partial,omitempty"` // not everything could be read
	Skipped   skipped `json:"skipped"`
}

// Search answers GET /search?q=: the lines that match the term, a basic regular
// expression as grep has it, as text or, if the client asks, as JSON. A newline
// in the term separates alternatives; an empty one matches every line.
func (h *Handler) Search(c echo.Context) error {
	q, err := question(c)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(c.Request().Context())
	defer cancel() // a count that nobody waits for
	s := h.open(httpapi.Owner(c))
	file, err := target(ctx, s, q.path)
	if err != nil {
		return err
	}
	counted := func() skipped { return skipped{Links: new(0), Special: new(0)} }
	if httpapi.AcceptsJSON(c) && !file {
		counted = h.count(ctx, s, q)
	}
	found, err := h.search(ctx, s, q, file)
	if err != nil {
		return err
	}
	passed := counted()
	passed.Binary = found.binaries
	return h.render(c, q, found, passed)
}

// target says whether the path is a single file. Only code in this very sandbox
// could put a link in its place after this look, and it would find what that
// code can read anyway.
func target(ctx context.Context, s Sandbox, path string) (file bool, err error) {
	if path == sandboxclient.WorkspaceDir {
		return false, nil
	}
	info, err := s.Stat(ctx, path)
	if err != nil {
		return false, err
	}
	switch info.Type {
	case "file":
		return true, nil
	case "directory":
		return false, nil
	case "symlink":
		return false, invalid("The path is a link, and links are not followed")
	}
	return false, invalid("The path is neither a file nor a directory")
}

// findings are what a search gave.
type findings struct {
	ending
	records  []record
	binaries int
}

func (h *Handler) search(ctx context.Context, s Sandbox, q query, file bool) (findings, error) {
	dir := q.path
	if file {
		dir = sandboxclient.WorkspaceDir
	}
	result, err := s.Exec(ctx, h.command(q, q.grep(file), dir))
	if err != nil {
		return findings{}, err
	}
	found := findings{binaries: binaries(result.Stderr)}
	if found.ending, err = end(result); err != nil {
		return findings{}, err
	}
	found.records, found.truncated = parse(result.Stdout, q.most, found.truncated)
	if found.broken && len(found.records) == 0 {
		return findings{}, failed(result.Exit)
	}
	place(found.records, q.path)
	return found, nil
}

// place makes paths absolute that are relative to a directory.
func place(records []record, dir string) {
	for i, r := range records {
		if r.path[0] != '/' {
			records[i].path = append([]byte(dir+"/"), r.path...)
		}
	}
}

func (h *Handler) command(q query, argv []string, dir string) sandboxclient.Command {
	return sandboxclient.Command{
		Argv:    argv,
		Dir:     dir,
		Env:     map[string]string{"LC_ALL": q.locale()},
		Timeout: q.timeout,
		Keep:    h.maxOutput,
		Max:     h.maxOutput, // beyond it nobody listens
	}
}

// render answers in text, as grep prints it, or in JSON.
func (h *Handler) render(c echo.Context, q query, found findings, passed skipped) error {
	header := c.Response().Header()
	header.Add("Vary", "Accept")
	told := answer{Truncated: found.truncated, Partial: found.partial, Skipped: passed}
	if httpapi.AcceptsJSON(c) {
		var more bool
		told.Matches, more = q.structured(found.records, h.maxOutput)
		told.Truncated = told.Truncated || more
	}
	if told.Truncated {
		header.Set("X-Truncated", "true")
	}
	if told.Partial {
		header.Set("X-Partial", "true")
	}
	if httpapi.AcceptsJSON(c) {
		return httpapi.JSON(c, http.StatusOK, told)
	}
	return httpapi.Text(c, http.StatusOK, q.plain(found.records))
}
