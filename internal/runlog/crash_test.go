package runlog

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Cut anywhere, a log is what was whole, and goes on from there.
func TestOpen_cutAnywhere(t *testing.T) {
	lines := []Line{{1, 0, []byte("{}")}, {2, 7, []byte(`{"type":"stdout"}`)}, {3, 0, nil}, {4, 8, []byte("x 1 2")}, {5, 0, []byte("end")}}
	l := create(t)
	fill(t, l, lines, true)
	content, err := os.ReadFile(l.file.Name())
	if err != nil {
		t.Fatal(err)
	}
	for size := range len(content) + 1 {
		path := newPath(t)
		if err := os.WriteFile(path, content[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		whole := bytes.Count(content[:size], []byte("\n"))
		checkCut(t, path, lines, whole)
	}
}

func checkCut(t *testing.T, path string, lines []Line, whole int) {
	t.Helper()
	cut := open(t, path)
	if seq, _ := cut.Last(); seq != int64(whole) || cut.Ended() != (whole == len(lines)) {
		t.Fatalf("%d lines of %d, ended: %t", seq, whole, cut.Ended())
	}
	if stat, err := os.Stat(path); err != nil || stat.Size() != cut.Size() {
		t.Errorf("the file has %d bytes, the log %d", stat.Size(), cut.Size())
	}
	if !cut.Ended() {
		fill(t, cut, lines[whole:], true)
	}
	got, err := take(t, cut.Follow(0))
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	same(t, lines, got)
}

// What a loss of power, or anybody else, leaves behind the last line is never
// taken for an event, and never in the way.
func TestOpen_garbage(t *testing.T) {
	lines := someLines(3)
	for name, garbage := range map[string]string{
		"zeros":             strings.Repeat("\x00", 5000),
		"many zeros":        strings.Repeat("\x00", 3*MaxEvent),
		"a line of zeros":   "\x00\x00\n",
		"an empty line":     "\n",
		"no number":         "x 0 {}\n",
		"no blanks":         "4\n",
		"one blank":         "4 0\n",
		"a number too few":  "3 0 {}\n",
		"a number too many": "5 0 {}\n",
		"a negative number": "-4 0 {}\n",
		"a sign":            "+4 0 {}\n",
		"a negative source": "4 -1 {}\n",
		"a huge number":     "4444444444444444444444 0 {}\n",
		"two dots":          "..4 0 {}\n",
		"a good one behind": "x\n4 0 {}\n",
		"a line too long":   "4 0 " + strings.Repeat("x", maxLine) + "\n",
		"half a line":       "4 0 {",
	} {
		t.Run(name, func(t *testing.T) {
			l := create(t)
			fill(t, l, lines, false)
			if err := overwrite(l.file.Name(), l.Size(), garbage); err != nil {
				t.Fatal(err)
			}
			checkCut(t, l.file.Name(), someLines(5), 3)
		})
	}
}

// Nothing comes after the end.
func TestOpen_behindTheEnd(t *testing.T) {
	l := create(t)
	fill(t, l, someLines(3), true)
	if err := overwrite(l.file.Name(), l.Size(), "4 0 {}\n"); err != nil {
		t.Fatal(err)
	}
	checkCut(t, l.file.Name(), someLines(3), 3)
}

// However often it crashes, and wherever a loss of power cuts it, a log is a
// prefix of what was appended, at least up to the last sync.
func TestLog_likeASlice(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := newModel(rt, newPath(t))
		defer func() { _ = m.log.Close() }()
		rt.Repeat(map[string]func(*rapid.T){
			"append": m.append,
			"sync":   m.sync,
			"end":    m.end,
			"follow": m.follow,
			"read":   m.read,
			"reopen": func(rt *rapid.T) { m.reopen(rt, m.log.Size()) },
			"crash":  m.crash,
			"":       m.check,
		})
	})
}

type model struct {
	log    *Log
	path   string
	lines  []Line
	synced int64 // size
	ended  bool
	reader *Reader
	seen   int64 // the number of the last line that the reader gave
}

func newModel(rt *rapid.T, path string) *model {
	l, err := Create(path)
	if err != nil {
		rt.Fatal(err)
	}
	return &model{log: l, path: path, reader: l.Follow(0)}
}

func (m *model) draw(rt *rapid.T) Line {
	length := rapid.OneOf(rapid.IntRange(0, 100), rapid.IntRange(batch-50, batch+50)).Draw(rt, "length")
	letter := rapid.SampledFrom([]byte{'a', ' ', '1', '.', 0, 0xff, '\r'}).Draw(rt, "letter")
	source := rapid.Int64Range(0, 1<<62).Draw(rt, "source")
	return Line{int64(len(m.lines) + 1), source, bytes.Repeat([]byte{letter}, length)}
}

func (m *model) append(rt *rapid.T) { m.add(rt, m.log.Append) }

func (m *model) end(rt *rapid.T) {
	if rapid.IntRange(0, 9).Draw(rt, "really") > 0 || m.ended {
		rt.Skip("too early")
	}
	m.add(rt, m.log.End)
	m.ended, m.synced = true, m.log.Size()
}

func (m *model) add(rt *rapid.T, add func(int64, []byte) (int64, error)) {
	line := m.draw(rt)
	seq, err := add(line.Source, line.Event)
	switch {
	case m.ended && !errors.Is(err, ErrEnded):
		rt.Fatalf("after the end: %v", err)
	case m.ended:
	case err != nil || seq != line.Seq:
		rt.Fatalf("%d, %v, want %d", seq, err, line.Seq)
	default:
		m.lines = append(m.lines, line)
	}
}

func (m *model) sync(rt *rapid.T) {
	if err := m.log.Sync(); err != nil {
		rt.Fatal(err)
	}
	m.synced = m.log.Size()
}

func (m *model) follow(rt *rapid.T) {
	m.seen = rapid.Int64Range(0, int64(len(m.lines))).Draw(rt, "after")
	m.reader = m.log.Follow(m.seen)
}

func (m *model) read(rt *rapid.T) {
	if wouldWait(m.reader) {
		if m.seen != int64(len(m.lines)) {
			rt.Fatalf("the reader waits after %d of %d", m.seen, len(m.lines))
		}
		return
	}
	lines, err := m.reader.Next(rt.Context())
	if errors.Is(err, io.EOF) && m.ended && m.seen == int64(len(m.lines)) {
		return
	}
	if err != nil {
		rt.Fatal(err)
	}
	for _, line := range lines {
		want := m.lines[m.seen]
		if m.seen++; line.Seq != m.seen || line.Source != want.Source || !bytes.Equal(line.Event, want.Event) {
			rt.Fatalf("line %d is another", m.seen)
		}
	}
}

func (m *model) crash(rt *rapid.T) {
	m.reopen(rt, rapid.Int64Range(m.synced, m.log.Size()).Draw(rt, "size"))
}

// reopen opens what is left when the file was cut.
func (m *model) reopen(rt *rapid.T, size int64) {
	_ = m.log.Close()
	if err := os.Truncate(m.path, size); err != nil {
		rt.Fatal(err)
	}
	l, err := Open(m.path)
	if err != nil {
		rt.Fatal(err)
	}
	seq, _ := l.Last()
	if l.Size() < m.synced || seq > int64(len(m.lines)) {
		rt.Fatalf("%d bytes of %d are left, %d lines of %d", l.Size(), m.synced, seq, len(m.lines))
	}
	m.log, m.lines, m.synced = l, m.lines[:seq], l.Size()
	m.seen = min(m.seen, seq)
	m.reader = l.Follow(m.seen)
}

func (m *model) check(rt *rapid.T) {
	var source int64
	for _, line := range m.lines {
		if line.Source != 0 {
			source = line.Source
		}
	}
	if seq, got := m.log.Last(); seq != int64(len(m.lines)) || got != source || m.log.Ended() != m.ended {
		rt.Fatalf("%d, %d, %t: want %d, %d, %t", seq, got, m.log.Ended(), len(m.lines), source, m.ended)
	}
}

// writeHere makes a test process write a log until it is killed.
const writeHere = "RUNLOG_TEST_WRITE"

func writeUntilKilled(path string) {
	l, err := Create(path)
	for i := 1; err == nil; i++ {
		if _, err = l.Append(int64(i), fmt.Appendf(nil, `{"data":%q}`, strings.Repeat("x", i%5000))); err == nil {
			_, err = fmt.Println(i)
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// What Append has promised is there after kill -9.
func TestOpen_afterAKill(t *testing.T) {
	for _, enough := range []int{1, 10, 1000, 5000} {
		path := newPath(t)
		promised := writeAndKill(t, path, enough)
		l := open(t, path)
		seq, source := l.Last()
		if seq < int64(promised) || source != seq {
			t.Errorf("%d events with source %d are left of %d", seq, source, promised)
		}
		if got, err := take(t, l.Follow(0)); err != nil || int64(len(got)) != seq {
			t.Errorf("%d, %v", len(got), err)
		}
		if _, err := l.End(0, []byte("{}")); err != nil {
			t.Error(err)
		}
	}
}

// writeAndKill gives the number of the last event that the process told of.
func writeAndKill(t *testing.T, path string, enough int) int {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), writeHere+"="+path)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	promised := 0
	for told := bufio.NewScanner(stdout); told.Scan(); {
		if promised, err = strconv.Atoi(told.Text()); err != nil {
			t.Fatal(err)
		}
		if promised == enough {
			_ = cmd.Process.Kill()
		}
	}
	_ = cmd.Wait() // it was killed
	if promised < enough {
		t.Fatalf("it ended after %d events", promised)
	}
	return promised
}
