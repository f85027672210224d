package wire

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MaxFrame bounds one encoded event: room for a large picture, not for a heap.
const MaxFrame = 24 << 20

// MaxChunk bounds the Data of one event.
const MaxChunk = 32 << 10

// ErrUnterminated means that a stream of events broke off: the end of the
// execution was not seen.
var ErrUnterminated = errors.New("wire: event stream ended without a terminal event")

// An EventReader decodes a stream of events from a peer that is not trusted:
// frames are bounded, numbers must grow, and nothing may follow the end.
type EventReader struct {
	r    *bufio.Reader
	long []byte // the last frame that was longer than the reader's buffer
	last int64
	done bool
}

const (
	// readBuffer holds a frame with a line or two of output; viewers are many.
	readBuffer = 4 << 10
	// keptFrame is what a reader keeps for its next long frame.
	keptFrame = 64 << 10
)

// NewEventReader reads events numbered above after.
func NewEventReader(r io.Reader, after int64) *EventReader {
	return &EventReader{r: bufio.NewReaderSize(r, readBuffer), last: after}
}

// Next returns the next event; io.EOF after the terminal one, ErrUnterminated
// when the stream ends before it.
func (er *EventReader) Next() (Event, error) {
	if er.done {
		return Event{}, io.EOF
	}
	line, err := er.frame()
	if errors.Is(err, io.EOF) {
		return Event{}, ErrUnterminated
	}
	if err != nil {
		return Event{}, err
	}
	var e Event
	if err := json.Unmarshal(line, &e); err != nil {
		return Event{}, fmt.Errorf("wire: malformed event: %w", err)
	}
	if err := er.check(e); err != nil {
		return Event{}, err
	}
	er.last, er.done = e.Seq, e.Terminal()
	return e, nil
}

func (er *EventReader) check(e Event) error {
	if e.Seq <= er.last {
		return fmt.Errorf("wire: event %d after %d", e.Seq, er.last)
	}
	ok := true
	switch e.Type {
	case EventStdout, EventStderr, EventWarning:
	case EventStart:
		ok = e.Start != nil
	case EventResult:
		ok = e.Result != nil
	case EventGap:
		ok = e.Gap != nil
	case EventComplete:
		ok = e.Exit != nil && e.Exit.Status != ""
	case EventError:
		ok = e.Code != ""
	default:
		return fmt.Errorf("wire: unknown event type %q", e.Type)
	}
	if !ok {
		return fmt.Errorf("wire: incomplete %s event", e.Type)
	}
	return nil
}

// frame returns one line without its newline, which is valid until the next
// call. A line that is cut by the end of the stream is not a frame.
func (er *EventReader) frame() ([]byte, error) {
	line, err := er.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line, err = er.longFrame(line)
	}
	if err != nil {
		return nil, err
	}
	return line[:len(line)-1], nil
}

// longFrame puts together a line that begins with what is read of it.
func (er *EventReader) longFrame(begin []byte) ([]byte, error) {
	if cap(er.long) > keptFrame {
		er.long = nil
	}
	er.long = append(er.long[:0], begin...)
	for {
		part, err := er.r.ReadSlice('\n')
		if len(er.long)+len(part) > MaxFrame {
			return nil, errors.New("wire: event frame too large")
		}
		er.long = append(er.long, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return er.long, err
		}
	}
}

// AppendEvent appends the encoded event and its newline to buf.
func AppendEvent(buf []byte, e Event) ([]byte, error) {
	frame, err := json.Marshal(e)
	if err != nil {
		return buf, err
	}
	if len(frame) > MaxFrame-1 {
		return buf, errors.New("wire: event frame too large")
	}
	return append(append(buf, frame...), '\n'), nil
}
