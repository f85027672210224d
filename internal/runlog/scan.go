package runlog

import (
	"errors"
	"io"
	"iter"
)

// Scan gives the events after a number from a log's content. An event may be
// used until the next one is asked for. Content that is damaged, or stops within
// a line, ends with an error.
func Scan(content io.Reader, after int64) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) { yield(Line{}, errors.ErrUnsupported) }
}

// Replay is Scan for content that can be read from any offset, as an object
// can: it looks for the place by halves instead of reading all before it.
func Replay(size int64, open func(offset int64) (io.ReadCloser, error), after int64) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) { yield(Line{}, errors.ErrUnsupported) }
}
