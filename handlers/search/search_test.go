package search

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"sandgate/sandboxclient"
)

// fake is a sandbox whose grep is a function. There are two links, one FIFO, a
// file "file", and directories at all other paths.
type fake func(cmd sandboxclient.Command) (*sandboxclient.ExecResult, error)

var _ Sandbox = fake(nil)

func (f fake) Exec(_ context.Context, cmd sandboxclient.Command) (*sandboxclient.ExecResult, error) {
	if cmd.Argv[0] == "find" {
		return &sandboxclient.ExecResult{Stdout: []byte("lsl"), Exit: sandboxclient.Exit{Status: sandboxclient.StatusExited}}, nil
	}
	return f(cmd)
}

func (f fake) Stat(_ context.Context, path string) (sandboxclient.FileInfo, error) {
	switch path {
	case "/workspace/file":
		return sandboxclient.FileInfo{Type: "file"}, nil
	case "/workspace/link":
		return sandboxclient.FileInfo{Type: "symlink"}, nil
	case "/workspace/fifo":
		return sandboxclient.FileInfo{Type: "other"}, nil
	case "/workspace/missing":
		return sandboxclient.FileInfo{}, sandboxclient.Errorf(sandboxclient.CodeNotFound, "nothing there")
	}
	return sandboxclient.FileInfo{Type: "directory"}, nil
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
	r := httptest.NewRequest("GET", "/search?"+query, nil)
	r.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	return w, h.Search(echo.New().NewContext(r, w))
}

func TestSearch_command(t *testing.T) {
	const (
		begin = "grep -rHnZs -D skip -m 10001 "
		ours  = "--exclude=.sandgate-* --exclude-dir=.sandgate-* "
	)
	for query, want := range map[string]struct{ argv, dir, locale string }{
		"":                                    {begin + ours + "-e ", "", "C"},
		"q=":                                  {begin + ours + "-e ", "", "C"},
		"q=-n":                                {begin + ours + "-e -n", "", "C"},
		"q=--":                                {begin + ours + "-e --", "", "C"},
		"q=-e":                                {begin + ours + "-e -e", "", "C"},
		"q=--pre%3Dsh":                        {begin + ours + "-e --pre=sh", "", "C"},
		"q=%24HOME;id":                        {begin + ours + "-e $HOME;id", "", "C"},
		"q=l%0Ao":                             {begin + ours + "-e l\no", "", "C"},
		"q=h%C3%A9llo+w":                      {begin + ours + "-e héllo w", "", "C"},
		"q=100%":                              {begin + ours + "-e 100%", "", "C"},
		"q=first&q=second":                    {begin + ours + "-e first", "", "C"},
		"q=a.b":                               {begin + ours + "-e a.b", "", "C.UTF-8"},
		"q=a.b&fixed=true":                    {begin + "-F " + ours + "-e a.b", "", "C"},
		"q=x&ignoreCase&fixed=1":              {begin + "-F -i " + ours + "-e x", "", "C"},
		"q=%C3%A9&ignoreCase":                 {begin + "-i " + ours + "-e é", "", "C.UTF-8"},
		"q=x&word":                            {begin + "-w " + ours + "-e x", "", "C.UTF-8"},
		"q=x&word=false":                      {begin + ours + "-e x", "", "C"},
		"q=x&context=0":                       {begin + ours + "-e x", "", "C"},
		"q=x&context=2":                       {begin + "--no-group-separator -C 2 " + ours + "-e x", "", "C"},
		"q=x&maxMatches=1":                    {"grep -rHnZs -D skip -m 2 " + ours + "-e x", "", "C"},
		"q=x&path=":                           {begin + ours + "-e x", "", "C"},
		"q=x&path=a//b/../c":                  {begin + ours + "-e x", "/a/c", "C"},
		"q=x&path=/workspace/-r":              {begin + ours + "-e x", "/-r", "C"},
		"q=x&path=file":                       {begin + ours + "-e x /workspace/file", "", "C"},
		"q=x&include=*.go":                    {begin + "--include=*.go " + ours + "-e x", "", "C"},
		"q=x&include=%3F":                     {begin + "--include=? " + ours + "-e x", "", "C.UTF-8"},
		"q=x&exclude=-e":                      {begin + "--exclude=-e --exclude-dir=-e " + ours + "-e x", "", "C"},
		"q=x&exclude=a&include=b&include=c,d": {begin + "--include=b --include=c,d --exclude=a --exclude-dir=a " + ours + "-e x", "", "C"},
	} {
		s := fake(func(cmd sandboxclient.Command) (*sandboxclient.ExecResult, error) {
			if got := strings.Join(cmd.Argv, " "); got != want.argv || cmd.Dir != "/workspace"+want.dir || cmd.Env["LC_ALL"] != want.locale {
				t.Errorf("%s: %q in %s, %s", query, got, cmd.Dir, cmd.Env)
			}
			return prints("", "", sandboxclient.Exit{ExitCode: 1})(cmd)
		})
		if w, err := ask(t, s, query, ""); err != nil || w.Code != 200 || w.Body.Len() > 0 {
			t.Errorf("%s: %d %q, %v", query, w.Code, w.Body, err)
		}
	}
}

func TestSearch_timeout(t *testing.T) {
	s := fake(func(cmd sandboxclient.Command) (*sandboxclient.ExecResult, error) {
		if cmd.Timeout != 2*time.Second {
			t.Errorf("timeout %v", cmd.Timeout)
		}
		return prints("", "", sandboxclient.Exit{ExitCode: 1})(cmd)
	})
	if _, err := ask(t, s, "q=x&timeout=2", ""); err != nil {
		t.Error(err)
	}
}

func TestSearch_refuses(t *testing.T) {
	for name, query := range map[string]string{
		"NUL":       "q=%00",
		"not UTF-8": "q=%ff",
		"too long":  "q=" + strings.Repeat("x", maxTerm+1),
		"timeout":   "q=x&timeout=0",

		"outside":           "q=x&path=../etc",
		"a link":            "q=x&path=link",
		"a FIFO":            "q=x&path=fifo",
		"context, too much": "q=x&context=21",
		"context, negative": "q=x&context=-1",
		"context, no word":  "q=x&context=",
		"matches, none":     "q=x&maxMatches=0",
		"matches, too many": "q=x&maxMatches=10001",
		"glob, empty":       "q=x&include=",
		"glob, path":        "q=x&exclude=a/b",
		"glob, NUL":         "q=x&exclude=a%00",
		"glob, not UTF-8":   "q=x&exclude=%ff",
		"glob, long":        "q=x&include=" + strings.Repeat("x", maxGlob+1),
		"switch, fixed":     "q=x&fixed=maybe",
		"switch, case":      "q=x&ignoreCase=yes",
		"switch, empty":     "q=x&word=",
		"globs, many":       "q=x" + strings.Repeat("&include=x", maxGlobs+1),
	} {
		if w, err := ask(t, fake(nil), query, ""); sandboxclient.CodeOf(err) != sandboxclient.CodeInvalid || w.Body.Len() > 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ask(t, fake(nil), "q=x&path=missing", ""); sandboxclient.CodeOf(err) != sandboxclient.CodeNotFound {
		t.Errorf("missing: %v", err)
	}
}

const twoFiles = "notes.txt\x001:hello world\na:1:b\nc\x0012:x: hello\xff\nnotes.txt\x003:hello again\n"

func TestSearch_text(t *testing.T) {
	w, err := ask(t, prints(twoFiles, "", sandboxclient.Exit{}), "q=hello", "*/*")
	want := "/workspace/a:1:b\nc:12:x: hello\uFFFD\n/workspace/notes.txt:1:hello world\n/workspace/notes.txt:3:hello again\n"
	if err != nil || w.Body.String() != want || w.Header().Get("Content-Type") != "text/plain; charset=utf-8" || w.Header().Get("X-Truncated") != "" {
		t.Errorf("%s %v, %v", w.Body, w.Header(), err)
	}
}

func TestSearch_json(t *testing.T) {
	w, err := ask(t, prints(twoFiles, "grep: b: binary file matches\n", sandboxclient.Exit{}), "q=hello", "application/json")
	want := `{"matches":[{"path":"/workspace/a:1:b\nc","line":12,"text":"x: hello` + "\uFFFD" + `"},` +
		`{"path":"/workspace/notes.txt","line":1,"text":"hello world"},{"path":"/workspace/notes.txt","line":3,"text":"hello again"}],"truncated":false,"skipped":{"binary":1,"links":2,"special":1}}` + "\n"
	if err != nil || w.Body.String() != want || w.Header().Get("Vary") != "Accept" {
		t.Errorf("%s %v, %v", w.Body, w.Header(), err)
	}
	w, err = ask(t, prints("", "", sandboxclient.Exit{ExitCode: 1}), "q=x", "application/json")
	if want := `{"matches":[],"truncated":false,"skipped":{"binary":0,"links":2,"special":1}}` + "\n"; err != nil || w.Body.String() != want {
		t.Errorf("%s, %v", w.Body, err)
	}
}

func TestSearch_ends(t *testing.T) {
	const one = "a\x001:x\n"
	exit := func(status sandboxclient.Status, code int) sandboxclient.Exit {
		return sandboxclient.Exit{Status: status, ExitCode: code}
	}
	for name, tc := range map[string]struct {
		sandbox            fake
		code               sandboxclient.Code // "" for 200
		body               string
		truncated, partial bool
	}{
		"none":                   {prints("", "", exit("exited", 1)), "", "", false, false},
		"unreadable":             {prints(one, "", exit("exited", 2)), "", "/workspace/a:1:x\n", false, true},
		"unreadable, none":       {prints("", "grep: d: binary file matches\n", exit("exited", 2)), "", "", false, true},
		"warning":                {prints(one, "grep: warning: stray \\ before d\n", exit("exited", 0)), "", "/workspace/a:1:x\n", false, false},
		"warning, unreadable":    {prints(one, "grep: warning: stray \\ before d\n", exit("exited", 2)), "", "/workspace/a:1:x\n", false, true},
		"expression":             {prints("", "grep: warning: x\ngrep: Unmatched ( or \\(\n", exit("exited", 2)), sandboxclient.CodeInvalid, "Unmatched ( or \\(", false, false},
		"named like a complaint": {prints("", "grep: evil\ngrep: x: binary file matches\n", exit("exited", 2)), "", "", false, true},
		"huge line":              {prints("", "grep: memory exhausted\n", exit("exited", 2)), sandboxclient.CodeUnavailable, "The search was ended, perhaps out of memory", false, false},
		"huge line, some":        {prints(one, "grep: memory exhausted\n", exit("exited", 2)), "", "/workspace/a:1:x\n", true, true},
		"no grep":                {prints("", "", exit("exited", 127)), sandboxclient.CodeUnsupported, "There is no grep in the sandbox", false, false},
		"timed out, none":        {prints("", "", exit("timed_out", 137)), sandboxclient.CodeTimeout, "The search took too long", false, false},
		"timed out, some":        {prints(one+"b\x001:y", "", exit("timed_out", 137)), "", "/workspace/a:1:x\n", true, true},
		"output limited":         {prints(one+"b\x00", "", exit("output_limited", 137)), "", "/workspace/a:1:x\n", true, false},
		"output limited, whole":  {prints(one, "", exit("output_limited", 137)), "", "/workspace/a:1:x\n", true, false},
		"truncated":              {prints(one, "", sandboxclient.Exit{Truncated: true}), "", "/workspace/a:1:x\n", true, false},
		"too many":               {prints(one+one+one+one, "", exit("exited", 0)), "", strings.Repeat("/workspace/a:1:x\n", 3), true, false},
		"just enough":            {prints(one+one+one, "", exit("exited", 0)), "", strings.Repeat("/workspace/a:1:x\n", 3), false, false},
		"out of memory":          {prints(one, "", exit("oom_killed", 137)), sandboxclient.CodeUnavailable, "The search was ended, perhaps out of memory", false, false},
		"killed":                 {prints("", "", exit("signaled", 137)), sandboxclient.CodeUnavailable, "The search was ended, perhaps out of memory", false, false},
	} {
		w, err := ask(t, tc.sandbox, "q=x&maxMatches=3", "")
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
		output := "min.js\x001:" + strings.Repeat("𝄞", 1000)
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
		"other case":  {line, "NEEDLE", 9800, true},
		"short":       {"a needle", "needle", 0, false},
		"long":        {line, "needle", 9800, true},
		"alternative": {line, "none\n\nneedle", 9800, true},
		"odd":         {"x" + line, "needle", 9801, true},
		"expression":  {line, "need[l]e", 0, true},
		"empty":       {line, "", 0, true},
	} {
		m := query{term: tc.term, ignoreCase: name == "other case"}.line(record{text: []byte(tc.text)})
		if m.Offset != tc.offset || m.Cut != tc.cut || !strings.HasPrefix(tc.text[m.Offset:], m.Text) || len(m.Text) > maxLine {
			t.Errorf("%s: offset %d, cut %v, %d bytes", name, m.Offset, m.Cut, len(m.Text))
		}
		if tc.offset > 0 && !strings.Contains(m.Text, "needle") {
			t.Errorf("%s: the needle is not shown", name)
		}
	}
}
