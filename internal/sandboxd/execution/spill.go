package execution

import (
	"errors"
	"os"
	"sort"
	"sync"
)

// blockBuffers hold blocks on their way to the disk.
var blockBuffers = sync.Pool{New: func() any { return new(make([]byte, 0, maxBatch)) }}

// overfull says whether there is too much of the log in memory. l.mu is held.
func (l *Log) overfull() bool {
	return l.budget.over() && l.size > l.budget.share() && len(l.kept) > 1
}

// cramped says whether there is no more room for anybody, in memory or on the disk.
func (l *Log) cramped() bool { return l.budget.over() && !l.disk.roomy() }

// makeRoom brings a log back within its bounds: the oldest events in memory go
// to the disk. What that does not take is let go, but never the newest.
func (l *Log) makeRoom() {
	buf := blockBuffers.Get().(*[]byte)
	for l.spill(buf) {
	}
	if cap(*buf) <= 2*maxBatch {
		blockBuffers.Put(buf)
	}
}

// spill moves one block, if it must, and says whether more is to be done. The
// log is not held while the disk writes: who prints waits for a slow one, and
// nobody else does.
func (l *Log) spill(buf *[]byte) bool {
	l.mu.Lock()
	l.evict()
	if !l.overfull() {
		l.mu.Unlock()
		return false
	}
	s := l.unfinished()
	b, data := l.gather((*buf)[:0])
	*buf = data
	l.mu.Unlock()

	s, err := l.disk.store(s, &b, data)

	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err == nil:
		l.settle(s, b)
	case !errors.Is(err, os.ErrClosed): // its segment was let go meanwhile
		l.evictOne()
	}
	return true
}

// unfinished gives the segment that still has room, if there is one.
func (l *Log) unfinished() *segment {
	if len(l.spilled) == 0 {
		return nil
	}
	s := l.spilled[len(l.spilled)-1]
	if s.size >= l.disk.segmentSize() {
		return nil
	}
	return s
}

// gather encodes the oldest events in memory, as many as a block holds.
func (l *Log) gather(buf []byte) (block, []byte) {
	n := 0
	for ; n < len(l.kept)-1; n++ {
		size := len(buf)
		buf = l.kept[n].appendTo(buf)
		if size > 0 && int64(len(buf)) > l.disk.block {
			buf = buf[:size]
			break
		}
	}
	first := l.firstInMemory()
	return block{first: first, last: first + int64(n) - 1, before: l.kept[0].printed, after: l.kept[n].printed}, buf
}

// settle lets a block take the place of its events in memory, unless they or
// its segment were let go while it was written. l.mu is held.
func (l *Log) settle(s *segment, b block) {
	if s.gone || l.firstInMemory() != b.first {
		l.disk.discard(s, b)
		return
	}
	if len(s.blocks) == 0 {
		l.spilled = append(l.spilled, s)
	}
	s.add(b)
	for range b.last - b.first + 1 {
		l.dropFirst()
	}
}

// evict lets the oldest events go, as long as there is too much in memory and
// the disk takes none of it. l.mu is held.
func (l *Log) evict() {
	for l.overfull() && !l.disk.roomy() {
		l.evictOne()
	}
}

// evictOne lets the oldest segment go, or else the oldest event.
func (l *Log) evictOne() {
	if !l.giveSegment() && len(l.kept) > 1 {
		l.dropFirst()
	}
}

// giveSegment lets the oldest segment go, if there is one. l.mu is held.
func (l *Log) giveSegment() bool {
	if len(l.spilled) == 0 {
		return false
	}
	l.spilled[0].close()
	l.spilled[0] = nil
	l.spilled = l.spilled[1:]
	return true
}

// yield lets the oldest segment go for somebody else.
func (l *Log) yield() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.giveSegment()
}

// lose lets everything go up to an event that cannot be read back.
func (l *Log) lose(seq int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.spilled) > 0 && l.spilled[0].first() <= seq {
		l.giveSegment()
	}
}

// find gives the segment and block that hold an event, if the disk has it.
// l.mu is held.
func (l *Log) find(seq int64) (*segment, block) {
	i := sort.Search(len(l.spilled), func(i int) bool { return l.spilled[i].last() >= seq })
	if i == len(l.spilled) {
		return nil, block{}
	}
	s := l.spilled[i]
	return s, s.blocks[sort.Search(len(s.blocks), func(i int) bool { return s.blocks[i].last >= seq })]
}

// onDisk is how much of the log is there.
func (l *Log) onDisk() (size int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.spilled {
		size += s.size
	}
	return size
}
