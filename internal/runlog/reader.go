package runlog

import (
	"bytes"
	"context"
	"errors"
	"io"
)

const (
	batch    = 64 << 10 // bytes that Next gives at most, but for a longer line
	maxLines = 1024     // and lines
	small    = 4 << 10  // a buffer that a waiting reader may keep
)

// Reader follows a log, for one viewer in one goroutine. It holds no file and
// no goroutine, so there is nothing to close.
type Reader struct {
	log   *Log
	after int64
	at    mark // the line that it reads next
	buf   []byte
	lines []Line
}

// Follow gives a reader of the events after a number, those to come included.
func (l *Log) Follow(after int64) *Reader {
	l.mu.Lock()
	defer l.mu.Unlock()
	after = max(after, 0)
	return &Reader{log: l, after: after, at: l.marks.find(after)}
}

// Next waits for events and gives as many as are there, up to 64 KiB or one that
// is longer. They may be used until the next call. After the last event of a log
// that has ended it gives io.EOF, and ErrClosed when the log was closed before;
// when ctx ends, its cause.
func (r *Reader) Next(ctx context.Context) ([]Line, error) {
	for ctx.Err() == nil {
		size, wait, err := r.look()
		if err != nil {
			return nil, err
		}
		if wait == nil {
			lines, err := r.read(size)
			if len(lines) > 0 || err != nil {
				return lines, failure("read", err)
			}
			continue // all of these had been seen
		}
		r.shrink()
		select {
		case <-wait:
		case <-ctx.Done():
		}
	}
	return nil, context.Cause(ctx)
}

// look gives the size up to which there is something to read, or else a channel
// that is closed when there is more.
func (r *Reader) look() (size int64, wait <-chan struct{}, err error) {
	l := r.log
	l.mu.Lock()
	defer l.mu.Unlock()
	atEnd := max(r.after, r.at.seq-1) >= l.state.seq
	switch {
	case atEnd && l.state.ended:
		return 0, nil, io.EOF
	case l.state.closed:
		return 0, nil, ErrClosed
	case !atEnd:
		return l.state.size, nil, nil
	}
	if l.waiting == nil {
		l.waiting = make(chan struct{})
	}
	return 0, l.waiting, nil
}

// read gives the next lines that have not been seen, of those before size.
func (r *Reader) read(size int64) ([]Line, error) {
	b, err := r.load(min(size-r.at.offset, batch))
	if err == nil && bytes.IndexByte(b, '\n') < 0 { // it is longer
		b, err = r.load(min(size-r.at.offset, int64(maxLine)))
	}
	if err != nil {
		return nil, err
	}
	start := r.at
	r.lines = r.lines[:0]
	for len(r.lines) < maxLines {
		raw, rest, whole := bytes.Cut(b, []byte{'\n'})
		if !whole {
			break
		}
		line, _, ok := parseLine(raw)
		if !ok || line.Seq != r.at.seq {
			return nil, ErrDamaged
		}
		if line.Seq > r.after {
			r.lines = append(r.lines, line)
		}
		r.at = mark{line.Seq + 1, r.at.offset + int64(len(raw)) + 1}
		b = rest
	}
	if r.at == start {
		return nil, ErrDamaged
	}
	return r.lines, nil
}

// load reads from where the reader is.
func (r *Reader) load(length int64) ([]byte, error) {
	if int64(cap(r.buf)) < length || cap(r.buf) > batch {
		r.buf = make([]byte, length)
	}
	_, err := r.log.file.ReadAt(r.buf[:length], r.at.offset)
	if errors.Is(err, io.EOF) { // it has been read up to there before
		err = ErrDamaged
	}
	return r.buf[:length], err
}

// shrink lets go of what a reader that waits does not need.
func (r *Reader) shrink() {
	if cap(r.buf) > small {
		r.buf, r.lines = nil, nil
	}
}
