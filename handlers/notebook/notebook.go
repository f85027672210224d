// Package notebook is the Notebook: every notebook is a sandbox of its own,
// and a variable set in one cell is still there in the next.
package notebook

import (
	"context"
	"unicode"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"sandgate/internal/cell"
	"sandgate/internal/httpapi"
	"sandgate/sandboxclient"
)

// App is the name under which notebooks belong to an owner: no name of a
// notebook reaches another app's sandbox.
const App = "notebook"

const (
	defaultName = "scratch"
	maxName     = 128 // characters
)

// Sandbox is what a notebook needs of its sandbox to run cells.
type Sandbox interface {
	cell.Sandbox
	Control
	Sleeper
	Destroyer
}

// Sleeper tells where a notebook's sandbox is in its life.
type Sleeper interface {
	State() string
}

// Control is what a notebook needs of its sandbox beside its cells. None of it
// starts a sandbox that has nothing in memory; to interrupt or to restart wakes
// one that sleeps.
type Control interface {
	Contexts(ctx context.Context) ([]sandboxclient.CodeContext, error)
	Generation(ctx context.Context, codeContext string) (int, error)
	InterruptContext(ctx context.Context, codeContext string) error
	DeleteContext(ctx context.Context, codeContext string) error
}

// Destroyer ends a notebook's sandbox with its files.
type Destroyer interface {
	Destroy(ctx context.Context, workspace sandboxclient.Workspace) error
}

// A Handler answers the Notebook's requests.
type Handler struct {
	open    func(owner, name string) Sandbox
	maxBody int64
}

// New makes a handler that opens notebooks' sandboxes with open and takes
// cells of at most maxBody bytes.
func New(open func(owner, name string) Sandbox, maxBody int64) *Handler {
	return &Handler{open: open, maxBody: maxBody}
}

// answer is a cell's answer with the text of its values.
type answer struct {
	cell.Answer
	Values []string `json:"values"`
}

// Run answers POST /notebook. The body is a cell of the notebook that
// ?notebook= names; the rest of the query is as for POST /run.
func (h *Handler) Run(c echo.Context) error {
	sandbox, _, err := h.notebook(c)
	if err != nil {
		return err
	}
	req, err := cell.ReadRequest(c, h.maxBody)
	if err != nil {
		return err
	}
	return cell.Respond(c, sandbox, req, func(run *sandboxclient.Run) any {
		return answer{cell.NewAnswer(run), values(run.Results)}
	})
}

// values gives the text of every result, dicts and lists included.
func values(results []sandboxclient.Result) []string {
	texts := make([]string, 0, len(results))
	for _, r := range results {
		texts = append(texts, r.Text)
	}
	return texts
}

// notebook opens the sandbox of the notebook that the query names.
func (h *Handler) notebook(c echo.Context) (Sandbox, string, error) {
	name, ok := httpapi.Query(c, "notebook")
	if !ok {
		name = defaultName
	}
	if !validName(name) {
		return nil, "", sandboxclient.Errorf(sandboxclient.CodeInvalid,
			"A notebook's name has 1 to %d characters, none of them a control character", maxName)
	}
	return h.open(httpapi.Owner(c), name), name, nil
}

func validName(name string) bool {
	if n := utf8.RuneCountInString(name); n == 0 || n > maxName || !utf8.ValidString(name) {
		return false
	}
	for _, r := range name {
		if unicode.IsControl(r) {
			return false
		}
	}
	return true
}
