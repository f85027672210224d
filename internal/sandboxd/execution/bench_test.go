package execution

import (
	"errors"
	"io"
	"testing"

	"sandgate/sandboxclient/wire"
)

var chunk = wire.Event{Type: wire.EventStdout, Data: make([]byte, wire.MaxChunk)}

// What a viewer reads as it comes, with memory for 1 MiB and nothing behind it.
func BenchmarkLog(b *testing.B) {
	benchmarkLog(b, nil)
}

// The same, with a disk that takes the rest.
func BenchmarkLog_onDisk(b *testing.B) {
	d := newDisk(b.TempDir())
	d.giveWay = func() bool { return false }
	benchmarkLog(b, d)
}

func benchmarkLog(b *testing.B, d *disk) {
	l := newLog(smallBudget(1<<20), d)
	r := l.follow(0)
	b.SetBytes(wire.MaxChunk)
	b.ReportAllocs()
	for b.Loop() {
		l.append(chunk)
		if _, err := r.Next(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	r.Close()
	l.drop()
}

// Small pieces that nobody reads.
func BenchmarkLog_merge(b *testing.B) {
	l := newLog(smallBudget(1<<20), nil)
	small := wire.Event{Type: wire.EventStdout, Data: make([]byte, 100)}
	b.SetBytes(int64(len(small.Data)))
	b.ReportAllocs()
	for b.Loop() {
		l.append(small)
	}
}

// One who comes late, to what lies on the disk.
func BenchmarkReader_fromDisk(b *testing.B) {
	const events = 1000
	d := newDisk(b.TempDir())
	d.giveWay = func() bool { return false }
	l := newLog(smallBudget(1<<20), d)
	for range events {
		l.append(chunk)
	}
	l.append(complete)
	b.SetBytes(events * wire.MaxChunk)
	b.ReportAllocs()
	for b.Loop() {
		r := l.follow(0)
		for {
			_, err := r.Next(b.Context())
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		r.Close()
	}
	l.drop()
}
