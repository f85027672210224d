package runlog

import (
	"errors"
	"io"
)

// MaxEvent is how many bytes an event may have.
const MaxEvent = 1 << 20

// What a caller may want to tell apart, by errors.Is.
var (
	ErrNoSpace = errors.New("no space left for the run's log")
	ErrTooLong = errors.New("the event is too long for the run's log")
	ErrEnded   = errors.New("the run's log has ended")
	ErrClosed  = errors.New("the run's log is closed")
)

// Log is one run's events in a file. Its methods may be called from many
// goroutines, but no other process may write to the file.
type Log struct{}

// Line is an event with its place.
type Line struct {
	Seq    int64  // from 1, without gaps
	Source int64  // where it came from, or 0
	Event  []byte // as it was appended
}

// Create makes an empty log. That there is a file already is an error,
// fs.ErrExist.
func Create(path string) (*Log, error) { return nil, errors.ErrUnsupported }

// Open opens a log as it was left, by whatever end of the gateway.
func Open(path string) (*Log, error) { return nil, errors.ErrUnsupported }

// Append adds an event and gives its number. An event that cannot be written is
// not there, and the next one takes its number.
func (l *Log) Append(source int64, event []byte) (seq int64, err error) {
	return 0, errors.ErrUnsupported
}

// End adds the last event and syncs. It may use the room that was kept for it:
// an event of up to 64 KiB finds its place on a full disk too. When it fails,
// the log has not ended, and another End may be tried.
func (l *Log) End(source int64, event []byte) (seq int64, err error) {
	return 0, errors.ErrUnsupported
}

// Sync returns when all that has been appended survives a loss of power.
func (l *Log) Sync() error { return errors.ErrUnsupported }

// Last gives the number of the last event, 0 when there is none, and the last
// source that was not 0. Where one log takes in several executions, their
// sources should differ, by the execution's place in the upper bits say: then it
// tells where to go on.
func (l *Log) Last() (seq, source int64) { return 0, 0 }

// Ended reports whether the last event is there.
func (l *Log) Ended() bool { return false }

// Size is how many bytes the log has.
func (l *Log) Size() int64 { return 0 }

// Content gives the bytes of the log up to now, to be kept as an object; Scan
// reads them.
func (l *Log) Content() *io.SectionReader { return nil }

// Close closes the file, which stays. Readers that have not come to the end get
// ErrClosed: whoever removes the file, or moves it elsewhere, knows by that
// when to look for the rest there.
func (l *Log) Close() error { return errors.ErrUnsupported }
