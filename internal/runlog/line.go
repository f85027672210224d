package runlog

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
)

const (
	maxPrefix = len(".9223372036854775807 9223372036854775807 ")
	maxLine   = maxPrefix + MaxEvent + 1
)

func appendLine(b []byte, line Line, last bool) []byte {
	if last {
		b = append(b, '.')
	}
	b = strconv.AppendInt(b, line.Seq, 10)
	b = append(b, ' ')
	b = strconv.AppendInt(b, line.Source, 10)
	b = append(b, ' ')
	b = append(b, line.Event...)
	return append(b, '\n')
}

// parseLine takes a line apart that has lost its line feed.
func parseLine(b []byte) (line Line, last, ok bool) {
	b, last = bytes.CutPrefix(b, []byte{'.'})
	seq, b, isSeq := cutNumber(b)
	source, event, isSource := cutNumber(b)
	return Line{seq, source, slices.Clip(event)}, last, isSeq && isSource && seq > 0
}

// cutNumber cuts off a number and the blank behind it.
func cutNumber(b []byte) (n int64, rest []byte, ok bool) {
	digits, rest, ok := bytes.Cut(b, []byte{' '})
	if !ok || len(digits) == 0 || digits[0] < '0' || digits[0] > '9' {
		return 0, nil, false
	}
	n, err := strconv.ParseInt(string(digits), 10, 64)
	return n, rest, err == nil
}

// lineReader gives lines that follow each other.
type lineReader struct {
	in    *bufio.Reader
	long  []byte
	next  int64 // the number of the next line; 0 takes any
	ended bool
}

// read gives a line, which lasts until the next one, and how many bytes it has.
// After the last line it is io.EOF, within a line io.ErrUnexpectedEOF, and
// ErrDamaged for what is no line, or not the next one.
func (r *lineReader) read() (Line, int, error) {
	b, err := r.raw()
	if err != nil {
		return Line{}, 0, err
	}
	line, last, ok := parseLine(b[:len(b)-1])
	if !ok || r.ended || r.next != 0 && line.Seq != r.next {
		return Line{}, 0, ErrDamaged
	}
	r.next, r.ended = line.Seq+1, last
	return line, len(b), nil
}

// raw gives a line with its line feed.
func (r *lineReader) raw() ([]byte, error) {
	r.long = r.long[:0]
	for {
		part, err := r.in.ReadSlice('\n')
		if err == nil && len(r.long) == 0 {
			return part, nil
		}
		if len(r.long)+len(part) > maxLine {
			return nil, ErrDamaged
		}
		r.long = append(r.long, part...)
		switch {
		case err == nil:
			return r.long, nil
		case errors.Is(err, io.EOF) && len(r.long) > 0:
			return nil, io.ErrUnexpectedEOF
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}
