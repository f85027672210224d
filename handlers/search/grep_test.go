package search

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// realGrep searches dir with the machine's own grep.
func realGrep(t *testing.T, dir string, q query) (stdout, stderr string, exit int) {
	t.Helper()
	q.most = 100
	argv := q.grep(false)
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL="+q.locale())
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
func found(output string, q query) []string {
	records, _ := parse([]byte(output), 100, false)
	matches, _ := q.structured(records, maxOutput)
	var got []string
	for _, m := range matches {
		got = append(got, m.Path+"|"+m.Text)
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
	stdout, stderr, exit := realGrep(t, dir, query{term: "hello"})
	want := []string{"odd:1:name\nof.txt|hello", "plain.txt|hello two", "sub/.git/deep/x.txt|hello"}
	if diff := cmp.Diff(want, found(stdout, query{term: "hello"})); diff != "" || binaries([]byte(stderr)) != 1 || exit != 0 {
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
		stdout, _, _ := realGrep(t, dir, query{term: term})
		if diff := cmp.Diff(want, found(stdout, query{term: term})); diff != "" {
			t.Error(term, diff)
		}
	}
}

// An expression that grep refuses is told in grep's words.
func TestSearch_realComplaint(t *testing.T) {
	for _, term := range []string{"a[", `\(`, `a\{1`, `[b-a]`, `\`, "[[:foo:]]"} {
		_, stderr, exit := realGrep(t, t.TempDir(), query{term: term})
		if words := complaint([]byte(stderr)); exit != exitTrouble || words == "" || strings.HasPrefix(words, "grep") {
			t.Errorf("%s: exit %d, %q", term, exit, words)
		}
	}
}

// What names are searched is what include and exclude say; ours are never.
func TestSearch_realGrep_globs(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.go", "a_test.go", "b.txt", ".hidden.go", "sub/c.go", "node_modules/d.go", ".sandgate-x.go"} {
		write(t, dir, name, "x")
	}
	for name, tc := range map[string]struct {
		q    query
		want []string
	}{
		"include":          {query{include: []string{"*.go"}}, []string{".hidden.go", "a.go", "a_test.go", "node_modules/d.go", "sub/c.go"}},
		"exclude":          {query{exclude: []string{"*.go"}}, []string{"b.txt"}},
		"both":             {query{include: []string{"*.go"}, exclude: []string{"*_test.go", ".*"}}, []string{"a.go", "node_modules/d.go", "sub/c.go"}},
		"directory":        {query{include: []string{"*.go"}, exclude: []string{"node_*", ".*", "a*"}}, []string{"sub/c.go"}},
		"where it is":      {query{exclude: []string{filepath.Base(dir), "*.txt", "?*.go"}}, nil},
		"class":            {query{include: []string{"[bc].*"}}, []string{"b.txt", "sub/c.go"}},
		"ours, asked for":  {query{include: []string{".sandgate-*"}}, nil},
		"everything":       {query{exclude: []string{"*"}}, nil},
		"several, in line": {query{include: []string{"b*", "c*"}}, []string{"b.txt", "sub/c.go"}},
	} {
		stdout, _, _ := realGrep(t, dir, tc.q)
		var got []string
		for _, line := range found(stdout, tc.q) {
			got = append(got, strings.TrimSuffix(line, "|x"))
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Error(name, diff)
		}
	}
}

// The text of a search with context is what grep itself prints.
func TestSearch_realGrep_context(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a", "x\n1\n2\n3\nx\nx\n4\n5\n6\n7\n8\nx\n")
	write(t, dir, "b", "0\nx\n--\nx\n")
	for context := range 5 {
		q := query{term: "x", context: context, most: 100}
		argv := []string{"grep", "-Hn", "-e", "x", "-C", string(rune('0' + context)), "a", "b"}
		if context == 0 {
			argv = []string{"grep", "-Hn", "-e", "x", "a", "b"}
		}
		cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
		cmd.Dir = dir
		want, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		stdout, _, _ := realGrep(t, dir, q)
		records, _ := parse([]byte(stdout), q.most, false)
		if diff := cmp.Diff(string(want), q.plain(records)); diff != "" {
			t.Error(context, diff)
		}
	}
}

func TestSearch_realGrep_options(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "f", "a.b\naxb\nA.B\ncaf\ncafé\nCAFÉ\n")
	for name, tc := range map[string]struct {
		q    query
		want string
	}{
		"expression":      {query{term: "a.b"}, "a.b axb"},
		"fixed":           {query{term: "a.b", fixed: true}, "a.b"},
		"ignore case":     {query{term: "a.b", fixed: true, ignoreCase: true}, "a.b A.B"},
		"accents' case":   {query{term: "é", ignoreCase: true}, "café CAFÉ"},
		"word":            {query{term: "caf", word: true}, "caf"},
		"word with fixed": {query{term: "a", word: true, fixed: true}, "a.b"},
	} {
		stdout, _, _ := realGrep(t, dir, tc.q)
		if got := strings.ReplaceAll(strings.Join(found(stdout, tc.q), " "), "f|", ""); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
