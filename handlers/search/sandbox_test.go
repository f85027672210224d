package search

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/labstack/echo/v4"

	"sandgate/internal/sandboxtest"
	"sandgate/sandboxclient"
)

func TestMain(m *testing.M) { os.Exit(sandboxtest.Main(m)) }

// A ground is the workspace of a real sandbox.
type ground struct {
	*testing.T
	sandbox *sandboxclient.Sandbox
}

// newGround lays out a workspace as code in the sandbox could.
func newGround(t *testing.T, script string) ground {
	t.Helper()
	ref := sandboxclient.Ref{Owner: "local", App: "files", Name: t.Name()}
	g := ground{t, sandboxtest.Client(t).Sandbox(ref)}
	result, err := g.sandbox.Exec(t.Context(), sandboxclient.Command{Argv: []string{"bash", "-ec", script}})
	if err != nil || result.Exit.ExitCode != 0 {
		t.Fatalf("lay out: %v, %+v", err, result)
	}
	return g
}

func (g ground) ask(query, accept string) (*httptest.ResponseRecorder, error) {
	g.Helper()
	h := New(func(string) Sandbox { return g.sandbox })
	r := httptest.NewRequestWithContext(g.Context(), "GET", "/search?"+query, nil)
	r.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	return w, h.Search(echo.New().NewContext(r, w))
}

// finds checks what a search prints.
func (g ground) finds(query, want string) {
	g.Helper()
	w, err := g.ask(query, "")
	if diff := cmp.Diff(want, w.Body.String()); diff != "" || err != nil {
		g.Errorf("%s: %v %s", query, err, diff)
	}
}

// refuses checks with what code a search ends.
func (g ground) refuses(query string, code sandboxclient.Code) {
	g.Helper()
	w, err := g.ask(query, "")
	if sandboxclient.CodeOf(err) != code || w.Body.Len() > 0 {
		g.Errorf("%s: %v, %q, want %s", query, err, w.Body, code)
	}
}

func TestSandbox_paths(t *testing.T) {
	g := newGround(t, `
mkdir -p a/b -- -r
echo hello > a/one; echo hello > a/b/two; echo hello > -r/three; echo hello > top; echo hello > -`)
	g.finds("q=hello", "/workspace/-:1:hello\n/workspace/-r/three:1:hello\n/workspace/a/b/two:1:hello\n/workspace/a/one:1:hello\n/workspace/top:1:hello\n")
	g.finds("q=hello&path=a", "/workspace/a/b/two:1:hello\n/workspace/a/one:1:hello\n")
	g.finds("q=hello&path=/workspace/a/b/", "/workspace/a/b/two:1:hello\n")
	g.finds("q=hello&path=a/../top", "/workspace/top:1:hello\n")
	g.finds("q=hello&path=-", "/workspace/-:1:hello\n")
	g.finds("q=hello&path=-r", "/workspace/-r/three:1:hello\n")
	g.finds("q=hello&path=a&exclude=a", "/workspace/a/b/two:1:hello\n/workspace/a/one:1:hello\n")
	g.finds("q=hello&path=a&exclude=b", "/workspace/a/one:1:hello\n")
	g.refuses("q=hello&path=missing", sandboxclient.CodeNotFound)
	g.refuses("q=hello&path=missing/deeper", sandboxclient.CodeNotFound)
	g.refuses("q=hello&path=../etc", sandboxclient.CodeInvalid)
	g.refuses("q=hello&path=top%00", sandboxclient.CodeInvalid)
}

// No link leads a search out of the workspace: neither as the path, nor on the
// way to it, nor met on the walk. The twin of each, without a link, is found.
func TestSandbox_links(t *testing.T) {
	g := newGround(t, `
mkdir -p real/sub; echo root: > real/sub/passwd
ln -s /etc etc; ln -s /etc/passwd passwd; ln -s ../etc up; ln -s / slash; ln -s real inside; ln -s loop loop
ln -s ../../etc real/out; ln -s /workspace/real absolute; mkdir deep; ln -s /etc deep/etc; ln -s nowhere dangling`)
	g.finds("q=root:", "/workspace/real/sub/passwd:1:root:\n")
	g.finds("q=root:&path=real/sub", "/workspace/real/sub/passwd:1:root:\n")
	g.finds("q=root:&path=inside/sub", "/workspace/inside/sub/passwd:1:root:\n")
	for _, path := range []string{"etc", "passwd", "up", "slash", "inside", "loop", "dangling", "real/out", "deep/etc", "inside/out"} {
		g.refuses("q=root:&path="+path, sandboxclient.CodeInvalid)
	}
	for _, path := range []string{"etc/passwd", "up/passwd", "slash/etc", "slash/etc/passwd", "real/out/passwd", "deep/etc/passwd", "inside/out/passwd", "loop/x"} {
		w, err := g.ask("q=root:&path="+path, "")
		if code := sandboxclient.CodeOf(err); code != sandboxclient.CodeInvalid && code != sandboxclient.CodeNotFound || w.Body.Len() > 0 {
			t.Errorf("%s: %v, %q", path, err, w.Body)
		}
	}
}

// What cannot be searched is skipped, at once, and counted.
func TestSandbox_skipped(t *testing.T) {
	g := newGround(t, `
echo hello > f; printf 'hello\0' > binary; printf 'hello\0' > $'new\nline'; printf 'nothing\0' > other
mkfifo fifo; ln -s f link; ln -s /etc etc; mkdir no d; mkfifo no/fifo d/fifo; echo hello > unreadable; chmod 000 unreadable`)
	for query, want := range map[string]string{
		"q=hello":                    `{"matches":[{"path":"/workspace/f","line":1,"text":"hello"}],"truncated":false,"partial":true,"skipped":{"binary":2,"links":2,"special":3}}`,
		"q=hello&exclude=no":         `{"matches":[{"path":"/workspace/f","line":1,"text":"hello"}],"truncated":false,"partial":true,"skipped":{"binary":2,"links":2,"special":2}}`,
		"q=hello&path=d":             `{"matches":[],"truncated":false,"skipped":{"binary":0,"links":0,"special":1}}`,
		"q=hello&path=f":             `{"matches":[{"path":"/workspace/f","line":1,"text":"hello"}],"truncated":false,"skipped":{"binary":0,"links":0,"special":0}}`,
		"q=hello&path=binary":        `{"matches":[],"truncated":false,"skipped":{"binary":1,"links":0,"special":0}}`,
		"q=hello&exclude=u*&path=no": `{"matches":[],"truncated":false,"skipped":{"binary":0,"links":0,"special":1}}`,
	} {
		w, err := g.ask(query, "application/json")
		if diff := cmp.Diff(want+"\n", w.Body.String()); diff != "" || err != nil {
			t.Errorf("%s: %v %s", query, err, diff)
		}
	}
	g.refuses("q=hello&path=fifo", sandboxclient.CodeInvalid)
}

// Names are the sandbox's own, and JSON tells them apart.
func TestSandbox_oddNames(t *testing.T) {
	g := newGround(t, `
echo x > 'a:1:b'; echo x > $'new\nline'; echo x > $'bad\xff'; echo x > '--'; echo x > $'grep: evil'`)
	w, err := g.ask("q=x&context=1", "application/json")
	var got struct{ Matches []match }
	if err != nil || json.Unmarshal(w.Body.Bytes(), &got) != nil {
		t.Fatalf("%v %s", err, w.Body)
	}
	var paths []string
	for _, m := range got.Matches {
		paths = append(paths, strings.TrimPrefix(m.Path, "/workspace/"))
	}
	want := []string{"--", "a:1:b", "bad\uFFFD", "grep: evil", "new\nline"}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Error(diff)
	}
	g.refuses("q=a%5B", sandboxclient.CodeInvalid)
}

// A directory that nobody may read is part of the answer, not its end.
func TestSandbox_closedDirectory(t *testing.T) {
	g := newGround(t, `mkdir closed; echo x > closed/f; echo x > g; chmod 000 closed`)
	g.finds("q=x", "/workspace/g:1:x\n")
	g.refuses("q=x&path=closed", sandboxclient.CodeInvalid)
}
