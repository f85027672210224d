package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func opened(t *testing.T, opts Options) *Log {
	t.Helper()
	if opts.Path == "" {
		opts.Path = filepath.Join(t.TempDir(), "audit.log")
	}
	l, err := Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func lines(t *testing.T, path string) []Entry {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var entries []Entry
	for line := range bytes.Lines(data) {
		var e Entry
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		entries = append(entries, e)
	}
	return entries
}

func TestLog_goesOnWithWhatIsThere(t *testing.T) {
	l := opened(t, Options{})
	e := Entry{Time: time.Now(), Owner: "alice", Action: "POST /run", Outcome: "ok", Status: 200}
	for range 2 {
		if err := l.Write(e); err != nil {
			t.Fatal(err)
		}
		_ = l.Close()
		l = opened(t, l.opts)
	}
	e.Owner = "a\nb"
	if err := Append(l.opts.Path, e); err != nil {
		t.Fatal(err)
	}
	got := lines(t, l.opts.Path)
	if len(got) != 3 || got[0].Owner != "alice" || got[2].Owner != "a\nb" {
		t.Errorf("%v", got)
	}
	if info, _ := os.Stat(l.opts.Path); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}

// A line that was cut off takes no other along.
func TestLog_afterATornLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	if err := os.WriteFile(path, []byte(`{"time":"20`), 0o600); err != nil {
		t.Fatal(err)
	}
	l := opened(t, Options{Path: path})
	for range 2 {
		if err := l.Write(Entry{Owner: "alice"}); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.Split(string(data), "\n"); len(text) != 4 || text[0] != `{"time":"20` || json.Unmarshal([]byte(text[1]), &Entry{}) != nil {
		t.Errorf("%s", data)
	}
}

// Files are put aside at their size, and the oldest go.
func TestLog_rotates(t *testing.T) {
	l := opened(t, Options{MaxSize: 300, Keep: 2})
	for i := range 20 {
		if err := l.Write(Entry{Owner: "alice", Action: strings.Repeat("x", 100), Status: i}); err != nil {
			t.Fatal(err)
		}
	}
	names, _ := filepath.Glob(l.opts.Path + "*")
	if len(names) != 3 {
		t.Fatalf("%v", names)
	}
	for _, name := range names {
		if info, _ := os.Stat(name); info.Size() > 300 || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %d bytes, %v", name, info.Size(), info.Mode())
		}
	}
	if last := lines(t, l.opts.Path); last[len(last)-1].Status != 19 {
		t.Errorf("%v", last)
	}
}

// Who floods the log with wrong keys cannot push others out of it.
func TestLog_countsStrangers(t *testing.T) {
	l := opened(t, Options{})
	for range 10 * strangersBurst {
		if err := l.Write(Entry{Action: "POST /run", Outcome: "unauthenticated"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Write(Entry{Owner: "alice"}); err != nil {
		t.Fatal(err)
	}
	got := lines(t, l.opts.Path)
	written := len(got) - 1
	if written > 3*strangersBurst || got[written].Dropped == 0 || got[written].Owner != "alice" {
		t.Errorf("%d lines, the last: %+v", written, got[written])
	}
}

// Whoever has a key, or a link, pushes nothing out by looking or by being refused,
// and nobody else's looks; what changes something is always written.
func TestLog_countsWhatChangesNothing(t *testing.T) {
	l := opened(t, Options{})
	write := func(e Entry, times int) {
		for range times {
			if err := l.Write(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	const many = 10 * minorsBurst
	write(Entry{Owner: "alice", Key: "1", App: "shares", Action: "GET /s/:token", Minor: true}, many)
	for n := range many { // an admin who invents names
		write(Entry{Owner: fmt.Sprint(n), By: "ops", Key: "2", App: "files", Action: "GET /files", Minor: true}, 1)
	}
	write(Entry{Owner: "alice", Key: "1", App: "files", Action: "GET /files", Minor: true}, 1)
	write(Entry{Owner: "bob", Key: "3", App: "shares", Action: "GET /s/:token", Minor: true}, 1)
	write(Entry{Owner: "alice", Key: "1", App: "shares", Action: "POST /v1/shares"}, many)

	written := map[string]int{}
	for _, e := range lines(t, l.opts.Path) {
		written[e.Key+" "+e.Action]++
		written["in all"] += 1 + e.Dropped
	}
	for _, flood := range []string{"1 GET /s/:token", "2 GET /files"} {
		if n := written[flood]; n < minorsBurst || n > 2*minorsBurst {
			t.Errorf("%s: %d lines", flood, n)
		}
	}
	if written["1 GET /files"] != 1 || written["3 GET /s/:token"] != 1 || written["1 POST /v1/shares"] != many || written["in all"] != 3*many+2 {
		t.Errorf("%v", written)
	}
}

func TestLog_accountsAreBounded(t *testing.T) {
	l := opened(t, Options{})
	for n := range 3 * maxAccounts {
		l.allows(Entry{Owner: "alice", Key: fmt.Sprint(n), Minor: true})
	}
	if n := l.allowed.Len(); n > maxAccounts {
		t.Errorf("%d accounts", n)
	}
}

func TestOpen_refusesAFileThatOthersRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Options{Path: path}); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Error(err)
	}
}
