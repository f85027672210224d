package execution

import (
	"bytes"
	"strings"

	"pgregory.net/rapid"

	"sandgate/sandboxclient/wire"
)

// A story is all that was printed, in order, of both streams, and what is known
// of how it was cut into events.
type story struct {
	*rapid.T
	data    []byte
	streams []byte        // whose byte it is, for each
	starts  map[int64]int // of events: bytes before them
	events  map[int64]wire.Event
}

func newStory(t *rapid.T) *story {
	return &story{T: t, starts: map[int64]int{1: 0}, events: map[int64]wire.Event{}}
}

// print makes up something to print.
func (s *story) print(l *Log) {
	stream := rapid.SampledFrom([]string{wire.EventStdout, wire.EventStderr}).Draw(s.T, "stream")
	data := make([]byte, rapid.IntRange(1, 3000).Draw(s.T, "bytes"))
	for i := range data {
		n := len(s.data) + i
		data[i] = byte(n>>(8*(n%3))) ^ byte(n)
	}
	s.data = append(s.data, data...)
	s.streams = append(s.streams, bytes.Repeat([]byte(stream[3:4]), len(data))...)
	l.append(wire.Event{Type: stream, Data: data})
	clear(data) // the log must not have kept it
}

// A witness is a reader and what it was told.
type witness struct {
	*Reader
	began int64 // after which event
	seen  []wire.Event
}

// check wants each event to be what was printed there, and each gap to be
// exactly as large as what is missing. Where a witness who was not there from
// the beginning begins, others must have said.
func (s *story) check(w *witness) {
	last := w.began
	at, known := s.starts[last+1]
	for _, e := range w.seen {
		first := e.Seq
		if e.Gap != nil {
			first = e.Gap.From
		}
		if first != last+1 || e.Gap != nil && e.Gap.To != e.Seq {
			s.Fatalf("event %d (%s %+v) after %d", e.Seq, e.Type, e.Gap, last)
		}
		last = e.Seq
		if e.Gap != nil {
			at += int(e.Gap.Bytes)
			known = known && (first != w.began+1 || first == 1) // where one begins is not always known
		}
		if start, told := s.starts[e.Seq]; !known && told && e.Gap == nil {
			at, known = start, true
		}
		s.compare(e, at, known)
		at += len(e.Data)
		if known {
			s.note(e, at)
		}
	}
}

// compare wants an event to be what was printed at a place.
func (s *story) compare(e wire.Event, at int, known bool) {
	if before, told := s.events[e.Seq]; e.Gap == nil && told && (before.Type != e.Type || !bytes.Equal(before.Data, e.Data) || !before.Time.Equal(e.Time)) {
		s.Fatalf("event %d is %+v to one and %+v to another", e.Seq, before, e)
	}
	if !known {
		if !bytes.Contains(s.data, e.Data) {
			s.Fatalf("event %d was never printed", e.Seq)
		}
		return
	}
	end := at + len(e.Data)
	if end > len(s.data) || !bytes.Equal(s.data[at:end], e.Data) {
		s.Fatalf("event %d is not what was printed at %d", e.Seq, at)
	}
	if len(e.Data) > 0 && strings.Trim(string(s.streams[at:end]), e.Type[3:4]) != "" {
		s.Fatalf("event %d is of the other stream", e.Seq)
	}
}

func (s *story) note(e wire.Event, end int) {
	s.starts[e.Seq+1] = end
	if e.Gap == nil {
		s.events[e.Seq] = e
	}
}

// whole says whether a witness was told everything.
func (w *witness) whole() bool {
	for _, e := range w.seen {
		if e.Gap != nil {
			return false
		}
	}
	return true
}
