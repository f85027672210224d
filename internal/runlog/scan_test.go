package runlog

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"math"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

func collect(lines iter.Seq2[Line, error]) ([]Line, error) {
	var all []Line
	for line, err := range lines {
		if err != nil {
			return all, err
		}
		all = append(all, cloned([]Line{line})...)
	}
	return all, nil
}

func encoded(lines []Line, end bool) []byte {
	var b []byte
	for i, line := range lines {
		b = appendLine(b, line, end && i == len(lines)-1)
	}
	return b
}

func TestScan_chunks(t *testing.T) {
	lines := someLines(120)
	content := encoded(lines, true)
	for name, chunked := range map[string]func(io.Reader) io.Reader{
		"whole":      func(r io.Reader) io.Reader { return r },
		"bytes":      iotest.OneByteReader,
		"halves":     iotest.HalfReader,
		"with error": iotest.DataErrReader,
	} {
		for _, after := range []int64{-1, 0, 1, 49, 50, 119, 120, 1000} {
			got, err := collect(Scan(chunked(bytes.NewReader(content)), after))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			same(t, lines[min(max(after, 0), 120):], got)
		}
	}
}

func TestScan_ofNothing(t *testing.T) {
	if got, err := collect(Scan(bytes.NewReader(nil), 0)); err != nil || len(got) != 0 {
		t.Errorf("%d, %v", len(got), err)
	}
}

func TestScan_cutAnywhere(t *testing.T) {
	lines := someLines(5)
	content := encoded(lines, true)
	for size := range content {
		whole := bytes.Count(content[:size], []byte("\n"))
		got, err := collect(Scan(bytes.NewReader(content[:size]), 0))
		atLine := size == 0 || content[size-1] == '\n'
		if (err == nil) != atLine || err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d bytes: %v", size, err)
		}
		same(t, lines[:whole], got)
	}
}

func TestScan_failures(t *testing.T) {
	broken := errors.New("the store is away")
	good := encoded(someLines(3), false)
	half := append(bytes.Clone(good), "4 0 {"...)
	for name, check := range map[string]struct {
		content io.Reader
		want    error
	}{
		"broken":         {io.MultiReader(bytes.NewReader(good), iotest.ErrReader(broken)), broken},
		"broken in line": {io.MultiReader(bytes.NewReader(half), iotest.ErrReader(broken)), broken},
		"damaged":        {bytes.NewReader(append(bytes.Clone(good), "5 0 {}\n"...)), ErrDamaged},
		"endless line":   {bytes.NewReader(append(bytes.Clone(good), make([]byte, 2*maxLine)...)), ErrDamaged},
		"after the end":  {bytes.NewReader(append(encoded(someLines(3), true), "4 0 {}\n"...)), ErrDamaged},
	} {
		got, err := collect(Scan(check.content, 0))
		if !errors.Is(err, check.want) {
			t.Errorf("%s: %v", name, err)
		}
		same(t, someLines(3), got)
	}
}

func TestScan_canBeLeft(t *testing.T) {
	content := encoded(someLines(10), true)
	for line, err := range Scan(bytes.NewReader(content), 3) {
		if err != nil || line.Seq != 4 {
			t.Errorf("%d, %v", line.Seq, err)
		}
		break
	}
}

// object counts what is read of some content.
type object struct {
	content []byte
	opened  int
	closed  int
	read    int
}

func (o *object) open(offset int64) (io.ReadCloser, error) {
	o.opened++
	return &part{o, bytes.NewReader(o.content[offset:])}, nil
}

type part struct {
	object *object
	io.Reader
}

func (p *part) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	p.object.read += n
	return n, err
}

func (p *part) Close() error {
	p.object.closed++
	return nil
}

func (o *object) replay(after int64) iter.Seq2[Line, error] {
	return Replay(int64(len(o.content)), o.open, after)
}

func TestReplay_isLikeScan(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		lengths := rapid.SliceOfN(rapid.OneOf(
			rapid.IntRange(0, 300), rapid.IntRange(20<<10, 60<<10), rapid.SampledFrom([]int{0, 1, MaxEvent}),
		), 0, 60).Draw(rt, "lengths")
		var o object
		var lines []Line
		for i, length := range lengths {
			line := Line{int64(i + 1), 0, bytes.Repeat([]byte{'a'}, length)}
			lines = append(lines, line)
			o.content = appendLine(o.content, line, i == len(lengths)-1)
		}
		after := rapid.Int64Range(-1, int64(len(lines)+1)).Draw(rt, "after")
		got, err := collect(o.replay(after))
		if err != nil {
			rt.Fatal(err)
		}
		same(t, lines[min(max(int(after), 0), len(lines)):], got)
		if o.opened != o.closed {
			rt.Errorf("%d opened, %d closed", o.opened, o.closed)
		}
	})
}

func TestReplay_readsLittle(t *testing.T) {
	var o object
	const lines, size = 10000, 2000
	for i := range int64(lines) {
		o.content = appendLine(o.content, Line{i + 1, 0, make([]byte, size)}, i == lines-1)
	}
	for _, left := range []int64{0, 1, 10, 1000} {
		o.read, o.opened = 0, 0
		got, err := collect(o.replay(lines - left))
		if err != nil || int64(len(got)) != left {
			t.Fatalf("%d, %v", len(got), err)
		}
		if extra := int64(o.read) - left*size; extra > near+(512<<10) || o.opened > 12 {
			t.Errorf("the last %d: %d bytes too many, in %d parts", left, extra, o.opened)
		}
	}
	for _, after := range []int64{lines + 1, math.MaxInt64} {
		if got, err := collect(o.replay(after)); err != nil || len(got) != 0 {
			t.Errorf("after %d: %d, %v", after, len(got), err)
		}
	}
}

func TestReplay_failures(t *testing.T) {
	broken := errors.New("the store is away")
	content := encoded(someLines(1000), true)
	for _, works := range []int{0, 1, 2} {
		o := object{content: content}
		_, err := collect(Replay(int64(len(content)), func(offset int64) (io.ReadCloser, error) {
			if o.opened == works {
				return nil, broken
			}
			return o.open(offset)
		}, 900))
		if !errors.Is(err, broken) || o.opened != o.closed {
			t.Errorf("%v, %d opened, %d closed", err, o.opened, o.closed)
		}
	}
	damaged := object{content: append(bytes.Clone(content[:len(content)/2-100]), bytes.Repeat([]byte("\n"), len(content)/2)...)}
	if _, err := collect(damaged.replay(900)); !errors.Is(err, ErrDamaged) {
		t.Errorf("%v", err)
	}
}
