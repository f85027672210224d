package runlog

import (
	"bufio"
	"errors"
	"io"
	"os"
)

// Open opens a log as it was left, by whatever end of the gateway. What is no
// whole event is cut off, with all that follows it.
func Open(path string) (*Log, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, failure("open", err)
	}
	l := &Log{file: f}
	if err := l.load(); err != nil {
		_ = f.Close()
		return nil, failure("open", err)
	}
	return l, nil
}

// load reads what is there, and cuts.
func (l *Log) load() error {
	in := lineReader{in: bufio.NewReaderSize(l.file, batch), next: 1}
	for {
		line, length, err := in.read()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, ErrDamaged) {
			return l.cut()
		}
		if err != nil {
			return err
		}
		l.take(line, length, in.ended)
	}
}

func (l *Log) take(line Line, length int, last bool) {
	s := &l.state
	l.marks.add(line.Seq, s.size)
	s.seq, s.size, s.ended = line.Seq, s.size+int64(length), last
	if line.Source != 0 {
		s.source = line.Source
	}
}

// cut removes what is behind the last whole line. The room for the last event
// goes with it; there is as much on the disk again, even if it is full.
func (l *Log) cut() error {
	stat, err := l.file.Stat()
	if err != nil {
		return err
	}
	l.reserved = l.state.size
	if stat.Size() == l.state.size {
		return nil
	}
	if err := l.file.Truncate(l.state.size); err != nil {
		return err
	}
	if !l.state.ended {
		_ = l.reserve(l.state.size) // Append asks again, and says
	}
	return l.file.Sync()
}
