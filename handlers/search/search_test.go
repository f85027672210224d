package search

import (
	"context"
	"errors"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/labstack/echo/v4"

	"sandgate/sandboxclient"
)

// fake is a sandbox made of a function.
type fake func(cmd sandboxclient.Command) (*sandboxclient.ExecResult, error)

var _ Sandbox = fake(nil)

func (f fake) Exec(_ context.Context, cmd sandboxclient.Command) (*sandboxclient.ExecResult, error) {
	return f(cmd)
}

// prints is a sandbox whose grep ends like this.
func prints(stdout, stderr string, exit sandboxclient.Exit) fake {
	if exit.Status == "" {
		exit.Status = sandboxclient.StatusExited
	}
	return func(sandboxclient.Command) (*sandboxclient.ExecResult, error) {
		return &sandboxclient.ExecResult{Stdout: []byte(stdout), Stderr: []byte(stderr), Exit: exit}, nil
	}
}

func ask(t testing.TB, s Sandbox, query, accept string) (*httptest.ResponseRecorder, error) {
	t.Helper()
	h := New(func(owner string) Sandbox {
		if owner != "local" {
			t.Errorf("opened for %s", owner)
		}
		return s
	})
	h.maxMatches = 3
	r := httptest.NewRequest("GET", "/search?"+query, nil)
	r.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	return w, h.Search(echo.New().NewContext(r, w))
}

func TestSearch_command(t *testing.T) {
	for query, term := range map[string]string{
		"":                 "",
		"q=":               "",
		"q=-n":             "-n",
		"q=--":             "--",
		"q=-e":             "-e",
		"q=--pre%3Dsh":     "--pre=sh",
		"q=%24HOME;id":     "$HOME;id",
		"q=l%0Ao":          "l\no",
		"q=h%C3%A9llo+w":   "héllo w",
		"q=100%":           "100%",
		"q=x&timeout=2":    "x",
		"q=first&q=second": "first",
	} {
		s := fake(func(cmd sandboxclient.Command) (*sandboxclient.ExecResult, error) {
			want := []string{"grep", "-rnZsI", "-D", "skip", "--exclude=.sandgate-*", "--exclude-dir=.sandgate-*", "-e", term, "/workspace"}
			if diff := cmp.Diff(want, cmd.Argv); diff != "" {
				t.Errorf("%s: %s", query, diff)
			}
			if timeout := cmd.Timeout; (timeout == 2*time.Second) != strings.Contains(query, "timeout") {
				t.Errorf("%s: timeout %v", query, timeout)
			}
			return prints("", "", sandboxclient.Exit{ExitCode: 1})(cmd)
		})
		if w, err := ask(t, s, query, ""); err != nil || w.Code != 200 || w.Body.Len() > 0 {
			t.Errorf("%s: %d %q, %v", query, w.Code, w.Body, err)
		}
	}
}

func TestSearch_refuses(t *testing.T) {
	for name, query := range map[string]string{
		"NUL":       "q=%00",
		"not UTF-8": "q=%ff",
		"too long":  "q=" + strings.Repeat("x", maxTerm+1),
		"timeout":   "q=x&timeout=0",
	} {
		if w, err := ask(t, fake(nil), query, ""); sandboxclient.CodeOf(err) != sandboxclient.CodeInvalid || w.Body.Len() > 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

const twoFiles = "/workspace/notes.txt\x001:hello world\n/workspace/a:1:b\nc\x0012:x: hello\xff\n/workspace/notes.txt\x003:hello again\n"

func TestSearch_text(t *testing.T) {
	w, err := ask(t, prints(twoFiles, "", sandboxclient.Exit{}), "q=hello", "*/*")
	want := "/workspace/a:1:b\nc:12:x: hello\uFFFD\n/workspace/notes.txt:1:hello world\n/workspace/notes.txt:3:hello again\n"
	if err != nil || w.Body.String() != want || w.Header().Get("Content-Type") != "text/plain; charset=utf-8" || w.Header().Get("X-Truncated") != "" {
		t.Errorf("%s %v, %v", w.Body, w.Header(), err)
	}
}

func TestSearch_json(t *testing.T) {
	w, err := ask(t, prints(twoFiles, "", sandboxclient.Exit{}), "q=hello", "application/json")
	want := `{"matches":[{"path":"/workspace/a:1:b\nc","line":12,"text":"x: hello` + "\uFFFD" + `"},` +
		`{"path":"/workspace/notes.txt","line":1,"text":"hello world"},{"path":"/workspace/notes.txt","line":3,"text":"hello again"}],"truncated":false}` + "\n"
	if err != nil || w.Body.String() != want || w.Header().Get("Vary") != "Accept" {
		t.Errorf("%s %v, %v", w.Body, w.Header(), err)
	}
	w, err = ask(t, prints("", "", sandboxclient.Exit{ExitCode: 1}), "q=x", "application/json")
	if want := `{"matches":[],"truncated":false}` + "\n"; err != nil || w.Body.String() != want {
		t.Errorf("%s, %v", w.Body, err)
	}
}

func TestSearch_ends(t *testing.T) {
	const one = "/workspace/a\x001:x\n"
	exit := func(status sandboxclient.Status, code int) sandboxclient.Exit {
		return sandboxclient.Exit{Status: status, ExitCode: code}
	}
	for name, tc := range map[string]struct {
		sandbox            fake
		code               sandboxclient.Code // "" for 200
		body               string
		truncated, partial bool
	}{
		"none":                  {prints("", "", exit("exited", 1)), "", "", false, false},
		"unreadable":            {prints(one, "", exit("exited", 2)), "", "/workspace/a:1:x\n", false, true},
		"unreadable, none":      {prints("", "grep: /workspace/d: Permission denied\n", exit("exited", 2)), "", "", false, true},
		"warning":               {prints(one, "grep: warning: stray \\ before d\n", exit("exited", 0)), "", "/workspace/a:1:x\n", false, false},
		"warning, unreadable":   {prints(one, "grep: warning: stray \\ before d\n", exit("exited", 2)), "", "/workspace/a:1:x\n", false, true},
		"expression":            {prints("", "grep: warning: x\ngrep: Unmatched ( or \\(\n", exit("exited", 2)), sandboxclient.CodeInvalid, "Unmatched ( or \\(", false, false},
		"no grep":               {prints("", "", exit("exited", 127)), sandboxclient.CodeUnsupported, "There is no grep in the sandbox", false, false},
		"timed out, none":       {prints("", "", exit("timed_out", 137)), sandboxclient.CodeTimeout, "The search took too long", false, false},
		"timed out, some":       {prints(one+"/workspace/b\x001:y", "", exit("timed_out", 137)), "", "/workspace/a:1:x\n", true, true},
		"output limited":        {prints(one+"/workspace/b\x00", "", exit("output_limited", 137)), "", "/workspace/a:1:x\n", true, false},
		"output limited, whole": {prints(one, "", exit("output_limited", 137)), "", "/workspace/a:1:x\n", true, false},
		"truncated":             {prints(one, "", sandboxclient.Exit{Truncated: true}), "", "/workspace/a:1:x\n", true, false},
		"too many":              {prints(one+one+one+one, "", exit("exited", 0)), "", strings.Repeat("/workspace/a:1:x\n", 3), true, false},
		"just enough":           {prints(one+one+one, "", exit("exited", 0)), "", strings.Repeat("/workspace/a:1:x\n", 3), false, false},
		"out of memory":         {prints(one, "", exit("oom_killed", 137)), sandboxclient.CodeUnavailable, "The search was ended, perhaps out of memory", false, false},
		"killed":                {prints("", "", exit("signaled", 137)), sandboxclient.CodeUnavailable, "The search was ended, perhaps out of memory", false, false},
	} {
		w, err := ask(t, tc.sandbox, "q=x", "")
		if tc.code != "" {
			e, ok := errors.AsType[*sandboxclient.Error](err)
			if !ok || e.Code != tc.code || e.Message != tc.body {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		truncated, partial := w.Header().Get("X-Truncated") == "true", w.Header().Get("X-Partial") == "true"
		if err != nil || w.Body.String() != tc.body || truncated != tc.truncated || partial != tc.partial {
			t.Errorf("%s: %q %v, %v", name, w.Body, w.Header(), err)
		}
	}
}

// Of one huge line the beginning is given, cut between runes: it is not
// dropped, and no placeholder stands for it.
func TestSearch_oneHugeLine(t *testing.T) {
	for cut := range 4 {
		output := "/workspace/min.js\x001:" + strings.Repeat("𝄞", 1000)
		output = output[:len(output)-cut]
		w, err := ask(t, prints(output, "", sandboxclient.Exit{Status: "output_limited"}), "q=x", "")
		body := w.Body.String()
		if err != nil || len(body) < 3900 || !utf8.ValidString(body) || strings.Contains(body, "\uFFFD") || w.Header().Get("X-Truncated") != "true" {
			t.Errorf("cut by %d: %d bytes, %v", cut, len(body), err)
		}
	}
}

// A long line is shown where the term is, in JSON.
func TestPreview(t *testing.T) {
	line := strings.Repeat("é", 5000) + "needle" + strings.Repeat("x", 5000)
	for name, tc := range map[string]struct {
		text, term string
		offset     int
		cut        bool
	}{
		"short":       {"a needle", "needle", 0, false},
		"long":        {line, "needle", 9800, true},
		"alternative": {line, "none\n\nneedle", 9800, true},
		"odd":         {"x" + line, "needle", 9801, true},
		"expression":  {line, "need[l]e", 0, true},
		"empty":       {line, "", 0, true},
	} {
		m := record{[]byte("p"), 1, []byte(tc.text)}.match(tc.term)
		if m.Offset != tc.offset || m.Cut != tc.cut || !strings.HasPrefix(tc.text[m.Offset:], m.Text) || len(m.Text) > maxLine || m.whole != tc.text {
			t.Errorf("%s: offset %d, cut %v, %d bytes", name, m.Offset, m.Cut, len(m.Text))
		}
		if tc.offset > 0 && !strings.Contains(m.Text, "needle") {
			t.Errorf("%s: the needle is not shown", name)
		}
	}
}

// The sandbox may print anything.
func FuzzParse(f *testing.F) {
	f.Add([]byte(twoFiles), "hello", true)
	f.Add([]byte("\x00\n:\x00"), "", false)
	f.Add([]byte("a\x00-1:x\n"), "x\ny", true)
	f.Fuzz(func(t *testing.T, output []byte, term string, cut bool) {
		const most = 5
		matches, more := parse(output, term, cut, most)
		if len(matches) > most || cut && !more {
			t.Errorf("%d matches, more %v", len(matches), more)
		}
		for _, m := range matches {
			if !utf8.ValidString(m.Path+m.Text+m.whole) || m.Line < 1 || len(m.Text) > 3*maxLine {
				t.Errorf("%+v", m)
			}
		}
	})
}

// realGrep searches dir with the machine's own grep.
func realGrep(t *testing.T, dir, term string) (stdout, stderr string, exit int) {
	t.Helper()
	argv := grep(term)
	argv[len(argv)-1] = dir
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "LC_ALL="+locale(term))
	var out, words strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &words
	_ = cmd.Run()
	return out.String(), words.String(), cmd.ProcessState.ExitCode()
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// found gives what is parsed of grep's output, as "name|text".
func found(dir, output, term string) []string {
	matches, _ := parse([]byte(output), term, false, 100)
	var got []string
	for _, m := range matches {
		got = append(got, strings.TrimPrefix(m.Path, dir+"/")+"|"+m.Text)
	}
	return got
}

// The machine's own grep agrees with what is expected of it: names that look
// like output, binaries, links and our own files.
func TestSearch_realGrep(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "plain.txt", "one\nhello two\n")
	write(t, dir, "odd:1:name\nof.txt", "hello")
	write(t, dir, "binary", "hello\x00")
	write(t, dir, ".sandgate-upload", "hello")
	write(t, dir, ".sandgate-d/f", "hello")
	write(t, dir, "sub/.git/deep/x.txt", "hello")
	if err := os.Symlink("/etc", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, exit := realGrep(t, dir, "hello")
	want := []string{"odd:1:name\nof.txt|hello", "plain.txt|hello two", "sub/.git/deep/x.txt|hello"}
	if diff := cmp.Diff(want, found(dir, stdout, "hello")); diff != "" || stderr != "" || exit != 0 {
		t.Error(diff, stderr, exit)
	}
}

// A term is found in every encoding that has its bytes; a wildcard stands for
// a character.
func TestSearch_realGrep_encodings(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "latin1.csv", "caf\xe9 noir\n")
	write(t, dir, "utf8.txt", "café noir\n")
	for term, want := range map[string][]string{
		"noir":    {"latin1.csv|caf\uFFFD noir", "utf8.txt|café noir"},
		"café":    {"utf8.txt|café noir"},
		"^caf. n": {"utf8.txt|café noir"},
		"caf[éè]": {"utf8.txt|café noir"},
		`é\+ `:    {"utf8.txt|café noir"},
		"cafè* n": nil,
	} {
		stdout, _, _ := realGrep(t, dir, term)
		if diff := cmp.Diff(want, found(dir, stdout, term)); diff != "" {
			t.Error(term, diff)
		}
	}
}

// An expression that grep refuses is told in grep's words.
func TestSearch_realComplaint(t *testing.T) {
	for _, term := range []string{"a[", `\(`, `a\{1`, `[b-a]`, `\`, "[[:foo:]]"} {
		_, stderr, exit := realGrep(t, t.TempDir(), term)
		if words := complaint([]byte(stderr)); exit != exitTrouble || words == "" || strings.HasPrefix(words, "grep") {
			t.Errorf("%s: exit %d, %q", term, exit, words)
		}
	}
}
