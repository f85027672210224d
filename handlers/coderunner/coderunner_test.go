package coderunner

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/labstack/echo/v4"

	"sandgate/sandboxclient"
)

// fake is a sandbox made of functions.
type fake struct {
	run     func(code string, opts sandboxclient.RunOptions) (*sandboxclient.Run, error)
	destroy func(sandboxclient.Workspace)
}

var _ Sandbox = fake{}

func (f fake) DeleteContext(_ context.Context, codeContext string) error {
	if codeContext != "default-bash" {
		return sandboxclient.Errorf(sandboxclient.CodeInternal, "%s", codeContext)
	}
	return nil
}

func (f fake) Destroy(_ context.Context, w sandboxclient.Workspace) error {
	f.destroy(w)
	return nil
}

func (f fake) RunCodeStream(_ context.Context, code string, opts sandboxclient.RunOptions) iter.Seq2[sandboxclient.Event, error] {
	return func(yield func(sandboxclient.Event, error) bool) {
		if run, err := f.run(code, opts); err != nil {
			yield(sandboxclient.Event{}, err)
		} else {
			yield(sandboxclient.Event{Seq: 1, Type: "complete", Exit: &run.Exit}, nil)
		}
	}
}

func (f fake) RunCode(_ context.Context, code string, opts sandboxclient.RunOptions) (*sandboxclient.Run, error) {
	return f.run(code, opts)
}

// post sends a body to /run and gives the answer, or the handler's error.
func post(t *testing.T, s Sandbox, query, body string) (*httptest.ResponseRecorder, error) {
	t.Helper()
	h := New(func(owner, name string) Sandbox {
		if owner != "local" || name != "playground" {
			t.Errorf("opened %s of %s", name, owner)
		}
		return s
	}, 100)
	w := httptest.NewRecorder()
	r := httptest.NewRequest("POST", "/run?"+query, strings.NewReader(body))
	return w, h.Run(echo.New().NewContext(r, w))
}

func TestRun(t *testing.T) {
	s := fake{run: func(code string, opts sandboxclient.RunOptions) (*sandboxclient.Run, error) {
		want := sandboxclient.RunOptions{Language: "python", Timeout: 1500 * time.Millisecond}
		if opts.Execution == "" {
			t.Error("the execution has no id")
		}
		opts.Execution = ""
		if diff := cmp.Diff(want, opts); code != `print("hello")` || diff != "" {
			t.Errorf("%q %s", code, diff)
		}
		return &sandboxclient.Run{
			Stdout: "hello\n", Start: "fresh", Generation: 1,
			Exit: sandboxclient.Exit{Status: "exited", ExecutionCount: 1, DurationMS: 2},
		}, nil
	}}
	w, err := post(t, s, "language=python&timeout=1.5&unknown=1", `print("hello")`)
	want := `{"output":["hello\n"],"errors":[],"results":[],"status":"exited","exitCode":0,"executionCount":1,"durationMs":2,"start":"fresh","generation":1}` + "\n"
	if err != nil || w.Code != 200 || w.Body.String() != want || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("%d %s %v, %v", w.Code, w.Body, w.Header(), err)
	}
}

// Code that fails is an answer, not an error.
func TestRun_codeThatFails(t *testing.T) {
	s := fake{run: func(string, sandboxclient.RunOptions) (*sandboxclient.Run, error) {
		return &sandboxclient.Run{
			Stderr: "Traceback", Exit: sandboxclient.Exit{
				Status: "exited", ExitCode: 1,
				Error: &sandboxclient.CodeError{Name: "ZeroDivisionError", Message: "division by zero", Traceback: []string{"Traceback"}},
			},
		}, nil
	}}
	w, err := post(t, s, "", "1/0")
	if err != nil || w.Code != 200 || !strings.Contains(w.Body.String(), `"error":{"name":"ZeroDivisionError"`) {
		t.Errorf("%d %s, %v", w.Code, w.Body, err)
	}
}

func TestRun_emptyBodyRuns(t *testing.T) {
	ran := false
	s := fake{run: func(code string, _ sandboxclient.RunOptions) (*sandboxclient.Run, error) {
		ran = code == ""
		return &sandboxclient.Run{}, nil
	}}
	if w, err := post(t, s, "", ""); err != nil || w.Code != 200 || !ran {
		t.Errorf("%d, %v, ran %v", w.Code, err, ran)
	}
}

func TestRun_errors(t *testing.T) {
	unreached := fake{run: func(string, sandboxclient.RunOptions) (*sandboxclient.Run, error) {
		t.Error("the sandbox was asked")
		return nil, io.ErrUnexpectedEOF
	}}
	full := fake{run: func(string, sandboxclient.RunOptions) (*sandboxclient.Run, error) {
		return nil, sandboxclient.Errorf(sandboxclient.CodeExhausted, "full")
	}}
	for name, tc := range map[string]struct {
		sandbox     Sandbox
		query, body string
		code        sandboxclient.Code
	}{
		"timeout":     {unreached, "timeout=soon", "1", sandboxclient.CodeInvalid},
		"language":    {unreached, "language=cobol", "1", sandboxclient.CodeUnsupported},
		"fresh":       {unreached, "fresh=perhaps", "1", sandboxclient.CodeInvalid},
		"fresh alone": {unreached, "fresh=true&onDisconnect=continue", "1", sandboxclient.CodeInvalid},
		"policy":      {unreached, "onDisconnect=stay", "1", sandboxclient.CodeInvalid},
		"no name":     {unreached, "language=", "1", sandboxclient.CodeUnsupported},
		"too large":   {unreached, "", strings.Repeat("x", 101), sandboxclient.CodeTooLarge},
		"not UTF-8":   {unreached, "", "\xff", sandboxclient.CodeInvalid},
		"sandbox":     {full, "", "1", sandboxclient.CodeExhausted},
	} {
		w, err := post(t, tc.sandbox, tc.query, tc.body)
		if sandboxclient.CodeOf(err) != tc.code || w.Body.Len() > 0 {
			t.Errorf("%s: %v, body %q, want %s", name, err, w.Body, tc.code)
		}
	}
}

func TestRun_asEvents(t *testing.T) {
	s := fake{run: func(string, sandboxclient.RunOptions) (*sandboxclient.Run, error) {
		return &sandboxclient.Run{Exit: sandboxclient.Exit{Status: "exited"}}, nil
	}}
	h := New(func(string, string) Sandbox { return s }, 100)
	w := httptest.NewRecorder()
	r := httptest.NewRequest("POST", "/run", strings.NewReader("1"))
	r.Header.Set("Accept", "text/event-stream")
	if err := h.Run(echo.New().NewContext(r, w)); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(w.Body.String(), "id: 1\ndata: {\"type\":\"complete\"") || !strings.HasPrefix(w.Header().Get("Location"), "/executions/") {
		t.Errorf("%v %q", w.Header(), w.Body)
	}
}

// A fresh sandbox has a name of its own and is destroyed whatever came of it.
func TestRun_fresh(t *testing.T) {
	for _, failure := range []error{nil, sandboxclient.Errorf(sandboxclient.CodeExhausted, "full")} {
		names, destroyed := map[string]bool{}, 0
		s := fake{
			run: func(string, sandboxclient.RunOptions) (*sandboxclient.Run, error) {
				return &sandboxclient.Run{Exit: sandboxclient.Exit{Status: "exited"}}, failure
			},
			destroy: func(w sandboxclient.Workspace) {
				if destroyed++; w != sandboxclient.RemoveWorkspace {
					t.Error("the workspace stays")
				}
			},
		}
		h := New(func(_, name string) Sandbox { names[name] = true; return s }, 100)
		for range 2 {
			r := httptest.NewRequest("POST", "/run?fresh=true", strings.NewReader("1"))
			if err := h.Run(echo.New().NewContext(r, httptest.NewRecorder())); !errors.Is(err, failure) {
				t.Error(err)
			}
		}
		if len(names) != 2 || destroyed != 2 || names["playground"] {
			t.Errorf("names %v, %d destroyed", names, destroyed)
		}
	}
}

// The visitor has the whole answer before the sandbox is destroyed.
func TestRun_freshAnswersBeforeItClears(t *testing.T) {
	read := make(chan struct{})
	s := fake{
		run: func(string, sandboxclient.RunOptions) (*sandboxclient.Run, error) {
			return &sandboxclient.Run{Exit: sandboxclient.Exit{Status: "exited"}}, nil
		},
		destroy: func(sandboxclient.Workspace) {
			select {
			case <-read:
			case <-time.After(20 * time.Second):
				t.Error("the visitor has no answer yet")
			}
		},
	}
	e := echo.New()
	e.POST("/run", New(func(string, string) Sandbox { return s }, 100).Run)
	server := httptest.NewServer(e)
	defer server.Close()
	for accept, last := range map[string]string{
		"application/json":  "\"generation\":0}\n",
		"text/event-stream": "\n\n", // after the only event
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/run?fresh=true", strings.NewReader("1"))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", accept)
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		body := make([]byte, 0, 1<<10)
		for !strings.HasSuffix(string(body), last) && err == nil {
			var n int
			n, err = resp.Body.Read(body[len(body):cap(body)])
			body = body[:len(body)+n]
		}
		if !strings.HasSuffix(string(body), last) {
			t.Errorf("%s: %q, %v", accept, body, err)
		}
		read <- struct{}{}
		_ = resp.Body.Close()
	}
}

func TestRestart(t *testing.T) {
	h := New(func(_, name string) Sandbox {
		if name != Playground {
			t.Errorf("opened %s", name)
		}
		return fake{}
	}, 100)
	w := httptest.NewRecorder()
	r := httptest.NewRequest("DELETE", "/run?language=bash", nil)
	if err := h.Restart(echo.New().NewContext(r, w)); err != nil || w.Code != 204 {
		t.Errorf("%d, %v", w.Code, err)
	}
}
