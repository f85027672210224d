package notebook

import (
	"context"
	"encoding/json"
	"iter"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/labstack/echo/v4"

	"sandgate/sandboxclient"
)

// fake is a sandbox made of functions and values.
type fake struct {
	run       func(code string, opts sandboxclient.RunOptions) (*sandboxclient.Run, error)
	contexts  []sandboxclient.CodeContext
	interrupt error
	remove    error
	sleeping  bool
}

var _ Sandbox = fake{}

func (f fake) Destroy(_ context.Context, w sandboxclient.Workspace) error {
	if w != sandboxclient.RemoveWorkspace {
		panic("the files stay")
	}
	return f.remove
}

func (f fake) RunCodeStream(context.Context, string, sandboxclient.RunOptions) iter.Seq2[sandboxclient.Event, error] {
	panic("not asked for")
}

func (f fake) RunCode(_ context.Context, code string, opts sandboxclient.RunOptions) (*sandboxclient.Run, error) {
	return f.run(code, opts)
}

func (f fake) Contexts(context.Context) ([]sandboxclient.CodeContext, error) { return f.contexts, nil }

func (f fake) Generation(_ context.Context, codeContext string) (int, error) {
	if codeContext != "default-python" {
		return 0, sandboxclient.Errorf(sandboxclient.CodeNotFound, "%s", codeContext)
	}
	return 4, nil
}

func (f fake) State() string {
	if f.sleeping {
		return sandboxclient.StateHibernated
	}
	return sandboxclient.StateRunning
}

func (f fake) InterruptContext(context.Context, string) error { return f.interrupt }
func (f fake) DeleteContext(context.Context, string) error    { return f.remove }

// room is a handler on one fake, and the name under which it was opened.
type room struct {
	*Handler
	opened string
}

func newRoom(s Sandbox) *room {
	r := &room{}
	r.Handler = New(func(owner, name string) Sandbox {
		r.opened = owner + "/" + name
		return s
	}, 100)
	return r
}

func ask(handler echo.HandlerFunc, query, body string) (*httptest.ResponseRecorder, error) {
	w := httptest.NewRecorder()
	r := httptest.NewRequest("POST", "/notebook?"+query, strings.NewReader(body))
	return w, handler(echo.New().NewContext(r, w))
}

func TestRun(t *testing.T) {
	s := fake{run: func(code string, opts sandboxclient.RunOptions) (*sandboxclient.Run, error) {
		want := sandboxclient.RunOptions{Language: "python", Timeout: 2 * time.Second}
		opts.Execution = ""
		if diff := cmp.Diff(want, opts); code != `{"k":x+1}` || diff != "" {
			t.Errorf("%q %s", code, diff)
		}
		return &sandboxclient.Run{
			Results: []sandboxclient.Result{{Text: "'d1'"}, {Text: "{'k': 42}", JSON: json.RawMessage(`{"k":42}`)}},
			Exit:    sandboxclient.Exit{Status: "exited", ExecutionCount: 2, DurationMS: 1}, Start: "running", Generation: 1,
		}, nil
	}}
	r := newRoom(s)
	w, err := ask(r.Run, "timeout=2", `{"k":x+1}`)
	want := `{"output":[],"errors":[],"results":[{"text":"'d1'"},{"text":"{'k': 42}","json":{"k":42}}],` +
		`"status":"exited","exitCode":0,"executionCount":2,"durationMs":1,"start":"running","generation":1,"values":["'d1'","{'k': 42}"]}` + "\n"
	if err != nil || w.Code != 200 || w.Body.String() != want {
		t.Errorf("%d %s, %v", w.Code, w.Body, err)
	}
	if r.opened != "local/scratch" {
		t.Errorf("opened %s", r.opened)
	}
}

func TestRun_noValues(t *testing.T) {
	s := fake{run: func(string, sandboxclient.RunOptions) (*sandboxclient.Run, error) { return &sandboxclient.Run{}, nil }}
	if w, err := ask(newRoom(s).Run, "", "x=41"); err != nil || !strings.Contains(w.Body.String(), `"values":[]`) {
		t.Errorf("%s, %v", w.Body, err)
	}
}

// Any name is a notebook of its own: none of them is special, none reaches
// another app.
func TestNames(t *testing.T) {
	s := fake{run: func(string, sandboxclient.RunOptions) (*sandboxclient.Run, error) { return &sandboxclient.Run{}, nil }}
	for name, fine := range map[string]bool{
		"scratch":                           true,
		"a/b":                               true,
		"../files":                          true,
		"-bad":                              true,
		"admin":                             true,
		"playground":                        true,
		"a b":                               true,
		"ünï ☕":                             true,
		strings.Repeat("☕", 128):            true,
		strings.Repeat("x", 129):            false,
		strings.Repeat("☕", 129):            false,
		"":                                  false,
		"a\nb":                              false,
		"a\x00b":                            false,
		"\u0085":                            false,
		"\xff":                              false,
		"a\x7f":                             false,
		strings.Repeat("x", 100) + "\u202e": true,
	} {
		r := newRoom(s)
		_, err := ask(r.Run, "notebook="+url.QueryEscape(name), "1")
		if fine != (err == nil) || fine && r.opened != "local/"+name {
			t.Errorf("%q: opened %q, %v", name, r.opened, err)
		}
		if !fine && sandboxclient.CodeOf(err) != sandboxclient.CodeInvalid {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func FuzzName(f *testing.F) {
	f.Add("scratch")
	f.Add("a\x00")
	f.Fuzz(func(t *testing.T, name string) {
		if validName(name) && (len(name) > 4*maxName || strings.ContainsAny(name, "\x00\n")) {
			t.Errorf("%q is valid", name)
		}
	})
}

func TestRun_errors(t *testing.T) {
	s := fake{run: func(string, sandboxclient.RunOptions) (*sandboxclient.Run, error) {
		return nil, sandboxclient.Errorf(sandboxclient.CodeUnavailable, "gone")
	}}
	for name, tc := range map[string]struct {
		query, body string
		code        sandboxclient.Code
	}{
		"timeout":   {"timeout=-1", "1", sandboxclient.CodeInvalid},
		"too large": {"", strings.Repeat("x", 101), sandboxclient.CodeTooLarge},
		"not UTF-8": {"", "\xff", sandboxclient.CodeInvalid},
		"sandbox":   {"", "1", sandboxclient.CodeUnavailable},
	} {
		if w, err := ask(newRoom(s).Run, tc.query, tc.body); sandboxclient.CodeOf(err) != tc.code || w.Body.Len() > 0 {
			t.Errorf("%s: %v, body %q, want %s", name, err, w.Body, tc.code)
		}
	}
}

func TestState_none(t *testing.T) {
	other := sandboxclient.CodeContext{ID: "default-bash", State: "idle"}
	w, err := ask(newRoom(fake{contexts: []sandboxclient.CodeContext{other}}).State, "notebook=n", "")
	want := `{"notebook":"n","language":"python","state":"none","queued":0,"generation":4}` + "\n"
	if err != nil || w.Body.String() != want {
		t.Errorf("%s, %v", w.Body, err)
	}
}

// A kernel that has run no cell yet says so; only without one is it not known.
func TestState_idleFromItsStart(t *testing.T) {
	kernel := sandboxclient.CodeContext{ID: "default-python", State: "idle"}
	w, err := ask(newRoom(fake{contexts: []sandboxclient.CodeContext{kernel}}).State, "", "")
	if err != nil || !strings.Contains(w.Body.String(), `"executionCount":0`) {
		t.Errorf("%s, %v", w.Body, err)
	}
}

func TestState_running(t *testing.T) {
	when := time.Date(2026, 11, 29, 1, 2, 3, 0, time.UTC)
	kernel := sandboxclient.CodeContext{
		ID: "default-python", Language: "python", Engine: "ipython", State: "busy", ExecutionCount: 7, Queued: 2,
		CreatedAt: when, LastUsed: when, Died: "killed",
	}
	w, err := ask(newRoom(fake{contexts: []sandboxclient.CodeContext{kernel}}).State, "", "")
	want := `{"notebook":"scratch","language":"python","state":"busy","engine":"ipython","executionCount":7,"queued":2,"generation":4,` +
		`"createdAt":"2026-11-29T01:02:03Z","lastUsed":"2026-11-29T01:02:03Z","died":"killed"}` + "\n"
	if err != nil || w.Body.String() != want {
		t.Errorf("%s, %v", w.Body, err)
	}
}

func TestInterrupt(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		code sandboxclient.Code // "" for 204
	}{
		"running": {nil, ""},
		"idle":    {sandboxclient.Errorf(sandboxclient.CodeConflict, "Nothing is running here"), sandboxclient.CodeConflict},
		"none":    {sandboxclient.Errorf(sandboxclient.CodeNotFound, "no context"), sandboxclient.CodeConflict},
		"broken":  {sandboxclient.Errorf(sandboxclient.CodeUnavailable, "gone"), sandboxclient.CodeUnavailable},
	} {
		w, err := ask(newRoom(fake{interrupt: tc.err}).Interrupt, "", "")
		if tc.code == "" && (err != nil || w.Code != 204) || tc.code != "" && sandboxclient.CodeOf(err) != tc.code {
			t.Errorf("%s: %d, %v", name, w.Code, err)
		}
	}
}

func TestRestart(t *testing.T) {
	if w, err := ask(newRoom(fake{}).Restart, "", ""); err != nil || w.Code != 204 || w.Body.Len() > 0 {
		t.Errorf("%d, %v", w.Code, err)
	}
	broken := fake{remove: sandboxclient.Errorf(sandboxclient.CodeUnavailable, "gone")}
	if _, err := ask(newRoom(broken).Restart, "", ""); sandboxclient.CodeOf(err) != sandboxclient.CodeUnavailable {
		t.Errorf("%v", err)
	}
}
