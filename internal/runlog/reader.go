package runlog

import (
	"context"
	"errors"
)

// Reader follows a log, for one viewer in one goroutine. It holds no file and
// no goroutine, so there is nothing to close.
type Reader struct{}

// Follow gives a reader of the events after a number, those to come included.
func (l *Log) Follow(after int64) *Reader { return nil }

// Next waits for events and gives as many as are there, up to 64 KiB or one that
// is longer. They may be used until the next call. After the last event of a log
// that has ended it gives io.EOF, and ErrClosed when the log was closed before;
// when ctx ends, its cause.
func (r *Reader) Next(ctx context.Context) ([]Line, error) { return nil, errors.ErrUnsupported }
