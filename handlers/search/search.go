// Package search is Text Search: it greps the workspace that Workspace Files
// keeps. The term reaches grep as an argument, never through a shell.
package search

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"sandgate/internal/httpapi"
	"sandgate/sandboxclient"
)

// App is the name under which searches are counted and logged.
const App = "search"

const (
	maxTerm    = 16 << 10 // bytes
	maxOutput  = 4 << 20  // bytes of grep's output that are looked at
	maxMatches = 10_000
)

// Sandbox is what Text Search needs of a sandbox.
type Sandbox interface {
	Exec(ctx context.Context, cmd sandboxclient.Command) (*sandboxclient.ExecResult, error)
}

// A Handler answers the requests of Text Search.
type Handler struct {
	open       func(owner string) Sandbox
	maxOutput  int64
	maxMatches int
}

// New makes a handler that searches the sandbox that open gives.
func New(open func(owner string) Sandbox) *Handler {
	return &Handler{open: open, maxOutput: maxOutput, maxMatches: maxMatches}
}

// answer is what a search found, in JSON.
type answer struct {
	Matches   []match `json:"matches"`
	Truncated bool    `json:"truncated"`         // there is more
	Partial   bool    `json:"partial,omitempty"` // not everything could be read
}

// Search answers GET /search?q=: the lines that match the term, a basic regular
// expression as grep has it, as text or, if the client asks, as JSON. A newline
// in the term separates alternatives; an empty one matches every line.
func (h *Handler) Search(c echo.Context) error {
	term, timeout, err := question(c)
	if err != nil {
		return err
	}
	result, err := h.open(httpapi.Owner(c)).Exec(c.Request().Context(), sandboxclient.Command{
		Argv:    grep(term),
		Env:     map[string]string{"LC_ALL": locale(term)},
		Timeout: timeout,
		Keep:    h.maxOutput,
		Max:     h.maxOutput, // beyond it nobody listens
	})
	if err != nil {
		return err
	}
	found, err := h.read(result, term)
	if err != nil {
		return err
	}
	return render(c, found)
}

// question reads what is searched for, and for how long.
func question(c echo.Context) (string, time.Duration, error) {
	term, _ := httpapi.Query(c, "q")
	switch {
	case strings.ContainsRune(term, 0):
		return "", 0, sandboxclient.Errorf(sandboxclient.CodeInvalid, "The term cannot hold a NUL byte")
	case !utf8.ValidString(term):
		return "", 0, sandboxclient.Errorf(sandboxclient.CodeInvalid, "The term must be UTF-8")
	case len(term) > maxTerm:
		return "", 0, sandboxclient.Errorf(sandboxclient.CodeInvalid, "The term is longer than %d bytes", maxTerm)
	}
	timeout, err := httpapi.QueryDuration(c, "timeout")
	return term, timeout, err
}

// grep is the command that searches: recursive, with line numbers, a NUL after
// each name so that no name confuses us, and not a word on files that are
// binary, unreadable, devices or unfinished uploads.
func grep(term string) []string {
	return []string{
		"grep", "-rnZsI", "-D", "skip", "--exclude=.sandgate-*", "--exclude-dir=.sandgate-*",
		"-e", term, sandboxclient.WorkspaceDir,
	}
}

// locale says in what grep thinks. A term that only stands for itself is the
// same bytes in UTF-8 text and beside text in other encodings, so bytes find
// both. In an expression a dot is a character, whatever the visitor writes;
// then lines in other encodings are not found.
func locale(term string) string {
	if strings.ContainsAny(term, `.[*\`) {
		return "C.UTF-8"
	}
	return "C"
}

// grep's exit statuses.
const (
	exitNotFound = 1
	exitTrouble  = 2
)

// read tells a search that found little from one that went wrong.
func (h *Handler) read(result *sandboxclient.ExecResult, term string) (answer, error) {
	exit := result.Exit
	cut := exit.Truncated || exit.Status == sandboxclient.StatusOutputLimited
	found := answer{}
	found.Matches, found.Truncated = parse(result.Stdout, term, cut, h.maxMatches)
	switch {
	case exit.Status == sandboxclient.StatusOutputLimited, exit.Status == sandboxclient.StatusExited && exit.ExitCode <= exitNotFound:
		return found, nil
	case exit.Status == sandboxclient.StatusExited && exit.ExitCode == exitTrouble:
		if words := complaint(result.Stderr); words != "" {
			return answer{}, sandboxclient.Errorf(sandboxclient.CodeInvalid, "%s", words)
		}
		found.Partial = true
		return found, nil
	case exit.Status == sandboxclient.StatusTimedOut && len(found.Matches) > 0: // what was found is better than nothing
		found.Truncated, found.Partial = true, true
		return found, nil
	}
	return answer{}, failed(exit, result.Stderr)
}

// failed words a search that gave nothing.
func failed(exit sandboxclient.Exit, stderr []byte) error {
	cause := fmt.Errorf("grep ended: %s, exit code %d: %.200q", string(exit.Status), exit.ExitCode, stderr)
	switch {
	case exit.Status == sandboxclient.StatusTimedOut:
		return &sandboxclient.Error{Code: sandboxclient.CodeTimeout, Message: "The search took too long", Err: cause}
	case exit.Status == sandboxclient.StatusExited && exit.ExitCode == 127:
		return &sandboxclient.Error{Code: sandboxclient.CodeUnsupported, Message: "There is no grep in the sandbox", Err: cause}
	}
	return &sandboxclient.Error{Code: sandboxclient.CodeUnavailable, Message: "The search was ended, perhaps out of memory", Err: cause}
}

// complaint gives what grep says of the expression. What it says of files, and
// its warnings, are none.
func complaint(stderr []byte) string {
	for line := range strings.Lines(string(stderr)) {
		words, ok := strings.CutPrefix(strings.TrimSpace(line), "grep: ")
		if ok && !strings.HasPrefix(words, "warning: ") && !strings.HasPrefix(words, sandboxclient.WorkspaceDir) {
			return strings.ToValidUTF8(words, "\uFFFD")
		}
	}
	return ""
}

// render answers in text, as grep prints it, or in JSON.
func render(c echo.Context, found answer) error {
	header := c.Response().Header()
	header.Add("Vary", "Accept")
	if found.Truncated {
		header.Set("X-Truncated", "true")
	}
	if found.Partial {
		header.Set("X-Partial", "true")
	}
	if httpapi.AcceptsJSON(c) {
		return httpapi.JSON(c, http.StatusOK, found)
	}
	var b strings.Builder
	for _, m := range found.Matches {
		fmt.Fprintf(&b, "%s:%d:%s\n", m.Path, m.Line, m.whole)
	}
	return httpapi.Text(c, http.StatusOK, b.String())
}
