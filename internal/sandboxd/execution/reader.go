package execution

import (
	"bytes"
	"context"
	"io"
	"slices"

	"sandgate/sandboxclient/wire"
)

// A Reader follows one execution. It is for one goroutine; others may follow
// the same execution with their own. Until it is closed, nothing that it has
// still to read is let go for being old.
type Reader struct {
	log     *Log
	last    int64 // number of the newest event given
	printed int64 // bytes of output up to it; unknown when negative
	buf     []byte
	closed  bool
}

// follow reads the events numbered above after.
func (l *Log) follow(after int64) *Reader {
	l.mu.Lock()
	l.readers++
	l.mu.Unlock()
	r := &Reader{log: l, last: after, printed: -1}
	if after == 0 {
		r.printed = 0
	}
	return r
}

// Close lets the execution go; the reader gives nothing more.
func (r *Reader) Close() {
	l := r.log
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.closed {
		return
	}
	r.closed = true
	l.readers--
	l.release()
}

// AtEnd says whether there is and will be nothing to read.
func (r *Reader) AtEnd() bool {
	l := r.log
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended && r.last >= l.last
}

// Next gives the encoded events that are there and not yet read, some hundred
// kilobytes of them at most, and waits when there is none. After the terminal
// event it is io.EOF. The bytes are valid until the next call.
func (r *Reader) Next(ctx context.Context) ([]byte, error) {
	for {
		s, b, wait := r.collect()
		if s != nil {
			r.load(s, b)
		}
		switch {
		case len(r.buf) > 0:
			return r.buf, nil
		case s != nil:
			continue // it was let go, which is to be told
		case wait == nil:
			return nil, io.EOF
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// collect takes what is there in memory, or tells which block on the disk is
// next: the log is not held while that is read. When there is nothing it gives
// a channel that is closed when there is more, or nil when nothing will come.
func (r *Reader) collect() (s *segment, b block, wait <-chan struct{}) {
	l := r.log
	l.mu.Lock()
	defer l.mu.Unlock()
	r.buf = r.buf[:0]
	r.skipGap()
	if s, b = l.find(r.last + 1); s != nil {
		return s, b, nil
	}
	r.take()
	if len(r.buf) > 0 || l.ended {
		return nil, b, nil
	}
	if l.waiting == nil {
		l.waiting = make(chan struct{})
	}
	return nil, b, l.waiting
}

// load takes the rest of a block from the disk, all of it. If it cannot be
// read, it is gone for everybody, and told as a gap.
func (r *Reader) load(s *segment, b block) {
	start := len(r.buf)
	r.buf = slices.Grow(r.buf, int(b.size))[:start+int(b.size)]
	data := r.buf[start:]
	if !s.read(b, data) {
		r.buf = r.buf[:start]
		r.log.lose(b.first)
		return
	}
	unread := data
	for range r.last + 1 - b.first { // a frame is a line
		unread = unread[bytes.IndexByte(unread, '\n')+1:]
	}
	r.buf = r.buf[:start+copy(data, unread)]
	r.last, r.printed = b.last, b.after
}

// take copies events from memory.
func (r *Reader) take() {
	l := r.log
	for i := r.last + 1 - l.firstInMemory(); i < int64(len(l.kept)); i++ {
		frame := l.frame(i)
		if len(r.buf) > 0 && len(r.buf)+len(frame) > maxBatch {
			break
		}
		r.buf = append(r.buf, frame...)
		r.last++
		r.printed = l.printedBy(i)
	}
}

// skipGap tells of the events between the last one read and the first one kept.
// A reader that begins behind events it has not read itself cannot know how
// much these held, if they are gone: its gap counts no bytes.
func (r *Reader) skipGap() {
	first := r.log.first()
	if r.last >= first-1 {
		return
	}
	var bytes int64
	printed := r.log.printedBefore()
	if r.printed >= 0 {
		bytes = printed - r.printed
	}
	gap, err := wire.AppendEvent(r.buf, gapEvent(r.last+1, first-1, bytes))
	if err == nil {
		r.buf = gap
	}
	r.last, r.printed = first-1, printed
}

// frame gives the encoded event, which from now on stays as it is.
func (l *Log) frame(i int64) []byte {
	r := &l.kept[i]
	if r.frame == nil {
		before := r.size()
		r.seal()
		l.grow(r.size() - before)
	}
	return r.frame
}

// printedBy counts the output of all events up to this one.
func (l *Log) printedBy(i int64) int64 {
	if i+1 < int64(len(l.kept)) {
		return l.kept[i+1].printed
	}
	return l.printed
}

// printedBefore counts the output of all events that are gone.
func (l *Log) printedBefore() int64 {
	switch {
	case len(l.spilled) > 0:
		return l.spilled[0].blocks[0].before
	case len(l.kept) > 0:
		return l.kept[0].printed
	}
	return l.printed
}
