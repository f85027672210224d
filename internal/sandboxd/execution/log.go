package execution

import (
	"slices"
	"sync"
	"time"

	"sandgate/sandboxclient/wire"
)

const (
	// recordOverhead is what an event costs beside its bytes.
	recordOverhead = 256
	// maxBatch is how many bytes a reader takes at once, if it has the choice.
	maxBatch = 256 << 10
)

// A Log is the numbered events of one execution, of which it keeps the newest:
// the last ones in memory, those before them on the disk as far as it has room.
type Log struct {
	budget *budget
	disk   *disk

	mu      sync.Mutex
	spilled []*segment
	kept    []record // behind what is spilled; of growing numbers, without a hole
	last    int64    // number of the newest event ever
	printed int64    // bytes of output in all events ever
	size    int64
	ended   bool
	readers int
	dropped bool          // to be let go when the last reader leaves
	waiting chan struct{} // closed at the next event; nil while nobody waits
}

// A record is an event: as it came while the next output may still be added to
// it, encoded once a reader has seen it.
type record struct {
	event   wire.Event
	frame   []byte
	printed int64 // by all events before it
}

func (r *record) size() int64 {
	return recordOverhead + int64(len(r.event.Data)+len(r.frame))
}

func newLog(b *budget, d *disk) *Log {
	b.logs.Add(1)
	return &Log{budget: b, disk: d}
}

// append numbers the event and adds it, with a copy of its data. Output goes
// into the event before it if that one is of the same kind and nobody has seen
// it yet: what is read slowly comes in large pieces, and small ones cost little.
// Nothing follows a terminal event. It is for one goroutine at a time.
func (l *Log) append(e wire.Event) {
	if l.add(e) {
		l.makeRoom()
	}
}

// add says whether there is too much of the log now.
func (l *Log) add(e wire.Event) (overfull bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return false
	}
	if !l.merge(e) {
		l.push(e)
	}
	l.printed += int64(len(e.Data))
	l.ended = e.Terminal()
	l.wake()
	return l.overfull()
}

// wake tells who waits that there is something new. l.mu is held.
func (l *Log) wake() {
	if l.waiting != nil {
		close(l.waiting)
		l.waiting = nil
	}
}

func (l *Log) merge(e wire.Event) bool {
	if len(l.kept) == 0 || e.Data == nil {
		return false
	}
	r := &l.kept[len(l.kept)-1]
	if r.frame != nil || r.event.Type != e.Type || r.event.Background != e.Background {
		return false
	}
	if len(r.event.Data)+len(e.Data) > wire.MaxChunk {
		return false
	}
	r.event.Data = append(r.event.Data, e.Data...)
	l.grow(int64(len(e.Data)))
	return true
}

func (l *Log) push(e wire.Event) {
	l.last++
	e.Seq, e.Data = l.last, slices.Clone(e.Data)
	r := record{event: e, printed: l.printed}
	if e.Data == nil {
		r.seal()
	}
	l.kept = append(l.kept, r)
	l.grow(r.size())
}

// seal encodes the event; from now on it stays as it is.
func (r *record) seal() {
	r.frame, r.event = r.appendTo(nil), wire.Event{}
}

// appendTo encodes the event. What is too large for a frame becomes a warning: a
// number must not be missing.
func (r *record) appendTo(buf []byte) []byte {
	if r.frame != nil {
		return append(buf, r.frame...)
	}
	frame, err := wire.AppendEvent(buf, r.event)
	if err == nil {
		return frame
	}
	frame, _ = wire.AppendEvent(buf, wire.Event{
		Seq: r.event.Seq, Type: wire.EventWarning, Time: r.event.Time,
		Code: "event_dropped", Message: "A " + r.event.Type + " was too large to be passed on",
	})
	return frame
}

func (l *Log) grow(by int64) {
	l.size += by
	l.budget.used.Add(by)
}

// dropFirst takes the oldest event out of memory.
func (l *Log) dropFirst() {
	l.grow(-l.kept[0].size())
	l.kept[0] = record{}
	l.kept = l.kept[1:]
}

// drop lets everything go, once those who still read have read it. It says
// whether there are any.
func (l *Log) drop() (read bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dropped, l.ended = true, true
	l.wake()
	l.release()
	return l.readers > 0
}

// release lets a dropped log go that nobody reads. l.mu is held.
func (l *Log) release() {
	if !l.dropped || l.readers > 0 {
		return
	}
	l.dropped = false // once
	for l.giveSegment() {
	}
	l.grow(-l.size)
	l.kept = nil
	l.budget.logs.Add(-1)
}

// trim leaves a dropped log its fair share, if there is no room any more; it
// says whether there still is something to read, by somebody.
func (l *Log) trim() (read bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.evict()
	return l.readers > 0
}

// span gives the numbers of the oldest event kept and of the newest. Who knows
// the number of an event may go on behind it, so nothing is added to that one.
func (l *Log) span() (first, last int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := int64(len(l.kept)); n > 0 {
		l.frame(n - 1)
	}
	return l.first(), l.last
}

func (l *Log) first() int64 {
	if len(l.spilled) > 0 {
		return l.spilled[0].first()
	}
	return l.firstInMemory()
}

func (l *Log) firstInMemory() int64 { return l.last - int64(len(l.kept)) + 1 }

func gapEvent(from, to, bytes int64) wire.Event {
	return wire.Event{
		Seq: to, Type: wire.EventGap, Time: time.Now().UTC(),
		Gap: &wire.Gap{From: from, To: to, Bytes: bytes},
	}
}
