package e2e

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// What the documented Code Runner answers, and what ours answers beside it.
func TestCodeRunner_goldenAnswers(t *testing.T) {
	g := shared(t)
	for _, c := range []struct {
		code           string
		output, errors []string
		err, status    string
	}{
		{code: "print(\"hello\")\nprint(\"two\")", output: []string{"hello\ntwo\n"}},
		{code: "import sys\nprint('o')\nprint('e', file=sys.stderr)", output: []string{"o\n"}, errors: []string{"e\n"}},
		{code: "1+1"},
		{code: "x=5"},
		{code: "print(x)", output: []string{"5\n"}},
		{code: ""},
		{code: "import os; os.write(1, b'raw\\n')", output: []string{"raw\n"}},
		{code: "import subprocess; subprocess.run(['echo','hi'])", output: []string{"hi\n"}},
		{code: "print('世界 ☕')", output: []string{"世界 ☕\n"}},
	} {
		got := run(t, g, c.code)
		if !slices.Equal(got.Output, c.output) || !slices.Equal(got.Errors, c.errors) || got.Error != nil || got.Status != "exited" {
			t.Errorf("%q: %+v", c.code, got)
		}
	}
	for code, name := range map[string]string{
		"1/0":                     "ZeroDivisionError",
		"def f(:":                 "SyntaxError",
		"input()":                 "EOFError",
		"import sys; sys.exit(3)": "SystemExit",
		"exit()":                  "SystemExit",
	} {
		got := run(t, g, code)
		if got.Error == nil || got.Error.Name != name {
			t.Errorf("%q: %+v", code, got)
		}
		if got := run(t, g, "print(x)"); !slices.Equal(got.Output, []string{"5\n"}) {
			t.Errorf("after %q the variable is gone: %+v", code, got)
		}
	}
	died := run(t, g, "import os; os._exit(3)")
	if died.Status != "exited" || died.KernelDied == "" {
		t.Errorf("os._exit: %+v", died)
	}
	if got := run(t, g, "print(1)"); !slices.Equal(got.Output, []string{"1\n"}) {
		t.Errorf("after os._exit: %+v", got)
	}
	ask(t, http.MethodGet, g.URL+"/run", "").has(http.StatusMethodNotAllowed)
}

func TestFiles_goldenAnswers(t *testing.T) {
	g := sharedWithoutFiles(t)
	ask(t, http.MethodPut, file(g, "a/b/c.txt"), "héllo\n").has(200, `"saved":"/workspace/a/b/c.txt"`)
	got := ask(t, http.MethodGet, file(g, "a/b/c.txt"), "")
	got.is(200, "héllo\n")
	if ct := got.header.Get("Content-Type"); ct != "text/plain; charset=utf-8" {
		t.Errorf("content type %q", ct)
	}
	ask(t, http.MethodGet, file(g, "../etc/passwd"), "").is(400, "Paths must stay inside /workspace")
	ask(t, http.MethodGet, g.URL+"/files", "").is(400, "Paths must stay inside /workspace")
	ask(t, http.MethodGet, file(g, ""), "").has(200, `"path":"/workspace"`, `"name":"a"`)
	ask(t, http.MethodGet, file(g, "missing"), "").has(404)
	ask(t, http.MethodHead, file(g, "missing"), "").is(404, "")
	ask(t, http.MethodHead, file(g, "a/b/c.txt"), "").is(200, "")
	ask(t, http.MethodGet, file(g, "a"), "").has(200, `"name":"b"`)
	ask(t, http.MethodPut, file(g, "a"), "x").has(409)
	ask(t, http.MethodPut, file(g, "a/b/c.txt/d"), "x").has(409)
	ask(t, http.MethodPut, file(g, strings.Repeat("n", 300)), "x").has(400)
	ask(t, http.MethodPut, file(g, "a\x00b"), "x").has(400)
	ask(t, http.MethodPut, g.URL+"/files?path=sp%20ace+plus.txt", "x").has(200, `"saved":"/workspace/sp ace plus.txt"`)

	binary := "\x00\xff\x80A"
	ask(t, http.MethodPut, file(g, "bin"), binary).has(200)
	ask(t, http.MethodGet, file(g, "bin"), "").is(200, binary)
	ask(t, http.MethodPut, file(g, "empty"), "").has(200)
	ask(t, http.MethodGet, file(g, "empty"), "").is(200, "")
	png := "\x89PNG\r\n\x1a\n" + binary
	ask(t, http.MethodPut, file(g, "img/pic.png"), png).has(200, `"saved":"/workspace/img/pic.png"`)
	got = ask(t, http.MethodGet, file(g, "img/pic.png"), "")
	got.is(200, png)
	if ct := got.header.Get("Content-Type"); ct != "image/png" {
		t.Errorf("content type %q", ct)
	}
}

func TestNotebook_goldenAnswers(t *testing.T) {
	g := shared(t)
	for _, c := range []struct {
		code   string
		values []string
	}{
		{"x=41", nil},
		{"x+1", []string{"42"}},
		{`{"k":x}`, []string{"{'k': 41}"}},
		{"[1,2]", []string{"[1, 2]"}},
		{`"s"`, []string{"'s'"}},
		{`display("d1"); display("d2"); 3`, []string{"'d1'", "'d2'", "3"}},
		{"None", nil},
		{"1\n2", []string{"2"}},
		{"{float('nan'), 1}", []string{"{nan, 1}"}},
	} {
		got := notebook(t, g, "golden", c.code)
		slices.Sort(got.Values)
		slices.Sort(c.values)
		if c.code[0] == '{' && len(got.Values) == 1 { // a set has no order
			got.Values[0] = strings.ReplaceAll(got.Values[0], "{1, nan}", "{nan, 1}")
		}
		if !slices.Equal(got.Values, c.values) || len(got.Output) != 0 || got.Error != nil {
			t.Errorf("%q: %+v", c.code, got)
		}
	}
	if got := notebook(t, g, "golden", "1/0"); len(got.Values) != 0 || got.Error == nil {
		t.Errorf("1/0: %+v", got)
	}
	for _, name := range []string{"-bad", "admin", strings.Repeat("n", 64), "a/b", "../x", "playground", "files"} {
		if got := notebook(t, g, name, "'x' in globals()"); !slices.Equal(got.Values, []string{"False"}) {
			t.Errorf("notebook %q sees another's variable: %+v", name, got)
		}
	}
	ask(t, http.MethodPost, g.URL+"/notebook?notebook=", "1").has(400)
}

func TestSearch_goldenAnswers(t *testing.T) {
	g := sharedWithoutFiles(t)
	ask(t, http.MethodPut, file(g, "a/b/c.txt"), "héllo\nsecond\n").has(200)
	for q, want := range map[string]string{
		"héllo":  "/workspace/a/b/c.txt:1:héllo\n",
		"absent": "",
		"';id;'": "",
		"$HOME":  "",
		"-n":     "",
		"--":     "",
		"-e":     "",
		"":       "/workspace/a/b/c.txt:1:héllo\n/workspace/a/b/c.txt:2:second\n",
		"é\nco":  "/workspace/a/b/c.txt:1:héllo\n/workspace/a/b/c.txt:2:second\n",
		"s.*d$":  "/workspace/a/b/c.txt:2:second\n",
	} {
		ask(t, http.MethodGet, search(g, q), "").is(200, want)
	}
	ask(t, http.MethodGet, g.URL+"/search", "").has(200, "héllo", "second")
	ask(t, http.MethodGet, search(g, "a["), "").has(400, "regular expression")
	ask(t, http.MethodGet, search(g, "\x00"), "").has(400)
}
