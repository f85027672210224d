package runlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(writeHere); path != "" {
		writeUntilKilled(path)
	}
	goleak.VerifyTestMain(m)
}

func create(t testing.TB) *Log {
	t.Helper()
	l, err := Create(newPath(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// newPath is in memory where that can be: a sync is for the disk, and there are
// thousands of them in these tests.
func newPath(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "runlog-")
	if err != nil {
		return filepath.Join(t.TempDir(), "log")
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "log")
}

func open(t testing.TB, path string) *Log {
	t.Helper()
	l, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// fill appends some lines, and ends the log with the last one if asked to.
func fill(t testing.TB, l *Log, lines []Line, end bool) {
	t.Helper()
	for i, line := range lines {
		add := l.Append
		if end && i == len(lines)-1 {
			add = l.End
		}
		if seq, err := add(line.Source, line.Event); err != nil || seq != line.Seq {
			t.Fatalf("event %d: %d, %v", line.Seq, seq, err)
		}
	}
}

// someLines are of many lengths, from none to more than a batch.
func someLines(n int) []Line {
	lines := make([]Line, n)
	for i := range lines {
		length := i * 7 % 200
		if i%50 == 49 {
			length = batch + i
		}
		lines[i] = Line{int64(i + 1), int64(i % 3), bytes.Repeat([]byte{'a' + byte(i%26)}, length)}
	}
	return lines
}

// take reads what is there, and gives the error after it; it does not wait.
func take(t testing.TB, r *Reader) ([]Line, error) {
	t.Helper()
	var all []Line
	for {
		if wouldWait(r) {
			return all, nil
		}
		lines, err := r.Next(t.Context())
		if err != nil {
			return all, err
		}
		all = append(all, cloned(lines)...)
	}
}

func wouldWait(r *Reader) bool {
	_, wait, _ := r.look()
	return wait != nil
}

func cloned(lines []Line) []Line {
	var all []Line
	for _, line := range lines {
		line.Event = append([]byte{}, line.Event...)
		all = append(all, line)
	}
	return all
}

func same(t testing.TB, want, got []Line) {
	t.Helper()
	if len(want) != len(got) {
		t.Fatalf("%d lines, want %d", len(got), len(want))
	}
	for i := range want {
		w, g := want[i], got[i]
		if g.Seq != w.Seq || g.Source != w.Source || !bytes.Equal(g.Event, w.Event) {
			t.Fatalf("event %d of %d, %.40q, want %d of %d, %.40q", g.Seq, g.Source, g.Event, w.Seq, w.Source, w.Event)
		}
	}
}

func TestLog_format(t *testing.T) {
	l := create(t)
	fill(t, l, []Line{{1, 0, []byte(`{"type":"start"}`)}, {2, 17, []byte("x y")}, {3, 0, nil}, {4, 18, []byte("{}")}}, true)
	got, err := os.ReadFile(l.file.Name())
	if err != nil {
		t.Fatal(err)
	}
	want := "1 0 {\"type\":\"start\"}\n2 17 x y\n3 0 \n.4 18 {}\n"
	if string(got) != want {
		t.Errorf("%q, want %q", got, want)
	}
	content, err := io.ReadAll(l.Content())
	if err != nil || string(content) != want || l.Size() != int64(len(want)) {
		t.Errorf("%q, %v, %d", content, err, l.Size())
	}
}

func TestLog_lastAndEnded(t *testing.T) {
	l := create(t)
	steps := []struct {
		source, wantSeq, wantSource int64
	}{{0, 1, 0}, {5, 2, 5}, {0, 3, 5}, {1 << 40, 4, 1 << 40}, {0, 5, 1 << 40}}
	for i, step := range steps {
		add := l.Append
		if i == len(steps)-1 {
			add = l.End
		}
		if l.Ended() {
			t.Error("it has ended too early")
		}
		if _, err := add(step.source, []byte("{}")); err != nil {
			t.Fatal(err)
		}
		if seq, source := l.Last(); seq != step.wantSeq || source != step.wantSource {
			t.Errorf("%d, %d, want %+v", seq, source, step)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(t, l.file.Name())
	if seq, source := again.Last(); !again.Ended() || seq != 5 || source != 1<<40 {
		t.Errorf("%t, %d, %d", again.Ended(), seq, source)
	}
}

func TestLog_refuses(t *testing.T) {
	l := create(t)
	for name, check := range map[string]struct {
		source int64
		event  string
		want   error
	}{
		"too long":        {0, strings.Repeat("x", MaxEvent+1), ErrTooLong},
		"a line feed":     {0, "a\nb", nil},
		"negative source": {-1, "", nil},
	} {
		for _, add := range []func(int64, []byte) (int64, error){l.Append, l.End} {
			if _, err := add(check.source, []byte(check.event)); err == nil || check.want != nil && !errors.Is(err, check.want) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	longest := Line{1, 1<<63 - 1, bytes.Repeat([]byte("x"), MaxEvent)}
	fill(t, l, []Line{longest, {2, 0, []byte("end")}}, true)
	if _, err := l.Append(0, nil); !errors.Is(err, ErrEnded) {
		t.Errorf("append after the end: %v", err)
	}
	if _, err := l.End(0, nil); !errors.Is(err, ErrEnded) {
		t.Errorf("end after the end: %v", err)
	}
	got, err := take(t, l.Follow(0))
	if !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	same(t, []Line{longest, {2, 0, []byte("end")}}, got)
}

func TestCreate_andOpen(t *testing.T) {
	path := newPath(t)
	if _, err := Open(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("open what is not there: %v", err)
	}
	l, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := Create(path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("create what is there: %v", err)
	}
	stat, err := os.Stat(path)
	if err != nil || stat.Mode().Perm() != 0o600 || stat.Size() != 0 {
		t.Errorf("%v, %v", stat, err)
	}
	empty := open(t, path)
	if seq, source := empty.Last(); seq != 0 || source != 0 || empty.Ended() {
		t.Errorf("%d, %d", seq, source)
	}
	if _, err := Create(filepath.Join(path, "below")); err == nil {
		t.Error("a log was created below a file")
	}
}

func TestClose(t *testing.T) {
	l := create(t)
	fill(t, l, someLines(3), false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	_, appending := l.Append(0, nil)
	_, ending := l.End(0, nil)
	_, reading := l.Follow(0).Next(t.Context())
	for _, err := range []error{appending, ending, reading, l.Sync(), l.Close()} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%v", err)
		}
	}
}

// What the log keeps ahead of its end is given back with the end.
func TestEnd_givesTheRoomBack(t *testing.T) {
	l := create(t)
	fill(t, l, someLines(10), true)
	used := blocks(t, l)
	if l.Size() >= 64<<10 || used > 64<<10 {
		t.Errorf("%d bytes take %d", l.Size(), used)
	}
}

func TestAppend_manyWriters(t *testing.T) {
	const writers, each = 8, 100
	l := create(t)
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			for j := range each {
				if _, err := l.Append(int64(i), fmt.Appendf(nil, "%d-%d", i, j)); err != nil {
					t.Error(err)
				}
				if j%20 == 0 {
					_ = l.Sync()
				}
			}
		})
	}
	wg.Wait()
	lines, err := take(t, l.Follow(0))
	if err != nil || len(lines) != writers*each {
		t.Fatalf("%d, %v", len(lines), err)
	}
	count := make([]int, writers)
	for i, line := range lines {
		want := fmt.Sprintf("%d-%d", line.Source, count[line.Source])
		if line.Seq != int64(i+1) || string(line.Event) != want {
			t.Errorf("%d is %s, want %s", line.Seq, line.Event, want)
		}
		count[line.Source]++
	}
}

func canceled(t testing.TB, cause error) context.Context {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	return ctx
}
