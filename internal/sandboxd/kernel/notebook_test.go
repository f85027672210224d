package kernel_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"sandgate/internal/sandboxtest"
	"sandgate/sandboxclient"
	"sandgate/sandboxclient/wire"
)

func TestMain(m *testing.M) { os.Exit(sandboxtest.Main(m)) }

// hang is the bound that tells a hang from a slow machine.
const hang = 2 * time.Minute

// eachEngine runs a test with IPython and with the standard library, each in a
// sandbox of its own.
func eachEngine(t *testing.T, test func(t *testing.T, n *notebook)) {
	for _, engine := range []string{"ipython", "python"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			test(t, newNotebook(t, engine))
		})
	}
}

// A notebook runs cells in one code context of a real sandbox.
type notebook struct {
	sandbox *sandboxclient.Sandbox
	engine  string
	opts    sandboxclient.RunOptions
}

func newNotebook(t *testing.T, engine string) *notebook {
	client := sandboxtest.ClientWithEnv(t, map[string]string{"SANDGATE_PYTHON_ENGINE": engine})
	return &notebook{
		sandbox: client.Sandbox(sandboxclient.Ref{Owner: "test", App: "kernel", Name: t.Name()}),
		engine:  engine,
	}
}

// beside gives another code context of the same sandbox.
func (n *notebook) beside(codeContext string) *notebook {
	other := *n
	other.opts.Context = codeContext
	return &other
}

// An outcome is all that a cell told.
type outcome struct {
	stdout, stderr string // of the cell
	background     string // of what earlier cells left running
	results        []wire.Result
	warnings       []string // codes
	start          *wire.Start
	exit           wire.Exit
}

func (n *notebook) run(t *testing.T, code string) outcome {
	t.Helper()
	return n.runWith(t, code, n.opts, func(wire.Event) {})
}

// runFor runs a cell with a timeout.
func (n *notebook) runFor(t *testing.T, timeout time.Duration, code string) outcome {
	t.Helper()
	opts := n.opts
	opts.Timeout = timeout
	return n.runWith(t, code, opts, func(wire.Event) {})
}

// runWith runs a cell and lets see look at each event when it comes.
func (n *notebook) runWith(t *testing.T, code string, opts sandboxclient.RunOptions, see func(wire.Event)) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	var o outcome
	for event, err := range n.sandbox.RunCodeStream(ctx, code, opts) {
		if err != nil {
			t.Fatalf("run %q: %v", code, err)
		}
		see(event)
		o.add(t, event)
	}
	return o
}

func (o *outcome) add(t *testing.T, e wire.Event) {
	t.Helper()
	switch {
	case e.Type == wire.EventStart:
		o.start = e.Start
	case e.Background:
		o.background += string(e.Data)
	case e.Type == wire.EventStdout:
		o.stdout += string(e.Data)
	case e.Type == wire.EventStderr:
		o.stderr += string(e.Data)
	case e.Type == wire.EventResult:
		o.results = append(o.results, *e.Result)
	case e.Type == wire.EventWarning:
		o.warnings = append(o.warnings, e.Code)
	case e.Type == wire.EventComplete:
		o.exit = *e.Exit
	default:
		t.Fatalf("unexpected event %+v", e)
	}
}

func (o outcome) texts() []string {
	texts := []string{}
	for _, r := range o.results {
		texts = append(texts, r.Text)
	}
	return texts
}

func (o outcome) errorName() string {
	if o.exit.Error == nil {
		return ""
	}
	return o.exit.Error.Name
}

// An answer is what a cell should tell; anything unset should be empty.
type answer struct {
	name    string
	code    string
	stdout  string
	stderr  string // the whole of it, or with a trailing … its beginning
	results []string
	err     string
}

// expect runs a cell and compares.
func (n *notebook) expect(t *testing.T, a answer) {
	t.Helper()
	o := n.run(t, a.code)
	if o.stdout != a.stdout {
		t.Errorf("stdout of %q is %q, want %q", a.code, o.stdout, a.stdout)
	}
	beginning, open := strings.CutSuffix(a.stderr, "…")
	if o.stderr != a.stderr && !(open && strings.HasPrefix(o.stderr, beginning)) {
		t.Errorf("stderr of %q is %q, want %q", a.code, o.stderr, a.stderr)
	}
	if got := o.texts(); !slices.Equal(got, append([]string{}, a.results...)) {
		t.Errorf("results of %q are %q, want %q", a.code, got, a.results)
	}
	if o.errorName() != a.err {
		t.Errorf("error of %q is %q, want %q", a.code, o.errorName(), a.err)
	}
	if wantCode := min(len(a.err), 1); o.exit.Status != wire.StatusExited || o.exit.ExitCode != wantCode {
		t.Errorf("%q ended as %s %d, want exited %d", a.code, o.exit.Status, o.exit.ExitCode, wantCode)
	}
}

// expectAll runs cells one after the other in the notebook's context.
func (n *notebook) expectAll(t *testing.T, answers []answer) {
	for _, a := range answers {
		t.Run(a.name, func(t *testing.T) { n.expect(t, a) })
	}
}

// expectVariable asserts that the kernel is the one that was given x = value.
func (n *notebook) expectVariable(t *testing.T, value string) {
	t.Helper()
	n.expect(t, answer{code: "x", results: []string{value}})
}
