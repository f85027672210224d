package runlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// MaxEvent is how many bytes an event may have.
const MaxEvent = 1 << 20

// What a caller may want to tell apart, by errors.Is.
var (
	ErrNoSpace = errors.New("no space left for the run's log")
	ErrTooLong = errors.New("the event is too long for the run's log")
	ErrEnded   = errors.New("the run's log has ended")
	ErrClosed  = errors.New("the run's log is closed")
	ErrDamaged = errors.New("the run's log is damaged")
)

// Log is one run's events in a file. Its methods may be called from many
// goroutines, but no other process may write to the file.
type Log struct {
	file *os.File

	// writing is held while a line is written, which may take as long as the disk
	// likes. Only its holder changes the state below, so it may look at it freely.
	writing  sync.Mutex
	line     []byte
	reserved int64 // the file has its room on the disk up to here

	mu      sync.Mutex
	state   state
	marks   marks
	waiting chan struct{} // closed at the next change; nil while nobody waits

	naming sync.Mutex
	named  bool // the file's name survives a loss of power
}

// state is what has been appended.
type state struct {
	size   int64 // readers read up to here
	seq    int64
	source int64
	ended  bool
	closed bool
}

// Line is an event with its place.
type Line struct {
	Seq    int64  // from 1, without gaps
	Source int64  // where it came from, or 0
	Event  []byte // as it was appended
}

// Create makes an empty log. That there is a file already is an error,
// fs.ErrExist.
func Create(path string) (*Log, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, failure("create", err)
	}
	l := &Log{file: f}
	if err := l.reserve(0); err != nil {
		_ = f.Close()
		_ = os.Remove(path)
		return nil, failure("create", err)
	}
	return l, nil
}

// Append adds an event and gives its number. An event that cannot be written is
// not there, and the next one takes its number.
func (l *Log) Append(source int64, event []byte) (seq int64, err error) {
	l.writing.Lock()
	defer l.writing.Unlock()
	line, err := l.encode(Line{l.state.seq + 1, source, event}, false)
	if err != nil {
		return 0, failure("append to", err)
	}
	if err := l.reserve(l.state.size + int64(len(line))); err != nil {
		return 0, failure("append to", err)
	}
	if _, err := l.file.WriteAt(line, l.state.size); err != nil {
		return 0, failure("append to", err)
	}
	return l.publish(line, source, false), nil
}

// End adds the last event and syncs. It may use the room that was kept for it:
// an event of up to 64 KiB finds its place on a full disk too. When it fails,
// the log has not ended, and another End may be tried.
func (l *Log) End(source int64, event []byte) (seq int64, err error) {
	l.writing.Lock()
	defer l.writing.Unlock()
	line, err := l.encode(Line{l.state.seq + 1, source, event}, true)
	if err != nil {
		return 0, failure("end", err)
	}
	if _, err := l.file.WriteAt(line, l.state.size); err != nil {
		return 0, failure("end", err)
	}
	if err := l.Sync(); err != nil {
		_ = l.cut() // or it could be taken for what comes next
		return 0, err
	}
	seq = l.publish(line, source, true)
	_ = l.file.Truncate(l.state.size) // gives back the rest of the room
	return seq, nil
}

// encode makes the line of an event, which lasts until the next one.
func (l *Log) encode(line Line, last bool) ([]byte, error) {
	switch {
	case l.state.closed:
		return nil, ErrClosed
	case l.state.ended:
		return nil, ErrEnded
	case len(line.Event) > MaxEvent:
		return nil, ErrTooLong
	case line.Source < 0 || bytes.IndexByte(line.Event, '\n') >= 0:
		return nil, errors.New("a negative source, or a line feed in the event")
	}
	if cap(l.line) > 2*batch { // what one long event needed
		l.line = nil
	}
	l.line = appendLine(l.line[:0], line, last)
	return l.line, nil
}

// publish lets readers have the line that was written, and gives its number.
func (l *Log) publish(line []byte, source int64, last bool) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &l.state
	s.seq++
	l.marks.add(s.seq, s.size)
	s.size += int64(len(line))
	if source != 0 {
		s.source = source
	}
	s.ended = last
	l.wake()
	return s.seq
}

func (l *Log) wake() {
	if l.waiting != nil {
		close(l.waiting)
		l.waiting = nil
	}
}

// Sync returns when all that has been appended survives a loss of power.
func (l *Log) Sync() error {
	if err := l.file.Sync(); err != nil {
		return failure("sync", err)
	}
	return failure("sync", l.syncName())
}

func (l *Log) syncName() error {
	l.naming.Lock()
	defer l.naming.Unlock()
	if l.named {
		return nil
	}
	folder, err := os.Open(filepath.Dir(l.file.Name()))
	if err != nil {
		return err
	}
	defer folder.Close()
	err = folder.Sync()
	l.named = err == nil
	return err
}

func (l *Log) now() state {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state
}

// Last gives the number of the last event, 0 when there is none, and the last
// source that was not 0. Where one log takes in several executions, their
// sources should differ, by the execution's place in the upper bits say: then it
// tells where to go on.
func (l *Log) Last() (seq, source int64) {
	s := l.now()
	return s.seq, s.source
}

// Ended reports whether the last event is there.
func (l *Log) Ended() bool { return l.now().ended }

// Size is how many bytes the log has.
func (l *Log) Size() int64 { return l.now().size }

// Content gives the bytes of the log up to now, to be kept as an object; Scan
// reads them.
func (l *Log) Content() *io.SectionReader {
	return io.NewSectionReader(l.file, 0, l.Size())
}

// Close closes the file, which stays. Readers that have not come to the end get
// ErrClosed: whoever removes the file, or moves it elsewhere, knows by that
// when to look for the rest there.
func (l *Log) Close() error {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.mu.Lock()
	l.state.closed = true
	l.wake()
	l.mu.Unlock()
	return failure("close", l.file.Close())
}

// failure says what went wrong, in the words of this package where it has some.
func failure(doing string, err error) error {
	if err == nil {
		return nil
	}
	switch {
	case isFull(err):
		err = fmt.Errorf("%w: %w", ErrNoSpace, err)
	case errors.Is(err, os.ErrClosed):
		err = ErrClosed
	}
	return fmt.Errorf("%s log: %w", doing, err)
}
