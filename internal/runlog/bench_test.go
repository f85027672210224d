package runlog

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"testing"
)

// typical is an event as npm's output makes them.
var typical = fmt.Appendf(nil, `{"type":"stdout","timestamp":"2026-11-29T12:00:00.123456Z","data":%q}`, bytes.Repeat([]byte("x"), 60))

const large = 100 << 20

// largeLog has 100 MiB.
func largeLog(b *testing.B) *Log {
	b.Helper()
	l := create(b)
	for l.Size() < large {
		if _, err := l.Append(1, typical); err != nil {
			b.Fatal(err)
		}
	}
	return l
}

func BenchmarkAppend(b *testing.B) {
	l := create(b)
	b.SetBytes(int64(len(typical)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := l.Append(1, typical); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFollow reads what is there.
func BenchmarkFollow(b *testing.B) {
	l := largeLog(b)
	seq, _ := l.Last()
	b.SetBytes(l.Size())
	b.ReportAllocs()
	for b.Loop() {
		r := l.Follow(0)
		for last := int64(0); last < seq; {
			lines, err := r.Next(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			last = lines[len(lines)-1].Seq
		}
	}
}

// BenchmarkFollow_live appends an event and has it read, again and again.
func BenchmarkFollow_live(b *testing.B) {
	l := create(b)
	r := l.Follow(0)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := l.Append(1, typical); err != nil {
			b.Fatal(err)
		}
		if _, err := r.Next(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkResume takes a viewer to 90 % of a large log.
func BenchmarkResume(b *testing.B) {
	l := largeLog(b)
	seq, _ := l.Last()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := l.Follow(seq * 9 / 10).Next(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReplay does the same where the log has become an object.
func BenchmarkReplay(b *testing.B) {
	l := largeLog(b)
	seq, _ := l.Last()
	path := l.file.Name()
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range Replay(l.Size(), func(offset int64) (io.ReadCloser, error) { return openAt(path, offset) }, seq*9/10) {
			if err != nil {
				b.Fatal(err)
			}
			break
		}
	}
}

func openAt(path string, offset int64) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	_, err = f.Seek(offset, io.SeekStart)
	return f, err
}

// BenchmarkOpen is what a restart costs for a large log.
func BenchmarkOpen(b *testing.B) {
	l := largeLog(b)
	b.SetBytes(l.Size())
	for b.Loop() {
		again, err := Open(l.file.Name())
		if err != nil {
			b.Fatal(err)
		}
		_ = again.Close()
	}
}
