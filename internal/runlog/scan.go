package runlog

import (
	"bufio"
	"errors"
	"io"
	"iter"
)

// Scan gives the events after a number from a log's content. An event may be
// used until the next one is asked for. Content that is damaged, or stops within
// a line, ends with an error.
func Scan(content io.Reader, after int64) iter.Seq2[Line, error] {
	return scan(content, 1, after)
}

// scan wants the content to begin with the line first.
func scan(content io.Reader, first, after int64) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		in := lineReader{in: bufio.NewReaderSize(content, batch), next: first}
		for {
			line, _, err := in.read()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(Line{}, failure("read", err))
				return
			}
			if line.Seq > after && !yield(line, nil) {
				return
			}
		}
	}
}

// Replay is Scan for content that can be read from any offset, as an object
// can: it looks for the place by halves instead of reading all before it.
func Replay(size int64, open func(offset int64) (io.ReadCloser, error), after int64) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		at, err := find(size, open, after)
		if err != nil {
			yield(Line{}, failure("read", err))
			return
		}
		content, err := open(at.offset)
		if err != nil {
			yield(Line{}, failure("read", err))
			return
		}
		defer content.Close()
		scan(content, at.seq, after)(yield)
	}
}

// near is so little content that all of it is read.
const near = 512 << 10

// find gives a line that is not far before the one after a number, or is it.
func find(size int64, open func(offset int64) (io.ReadCloser, error), after int64) (mark, error) {
	low, high := mark{seq: 1}, size
	for after > 0 && high-low.offset > near {
		middle := low.offset + (high-low.offset)/2
		found, err := probe(open, middle)
		switch {
		case errors.Is(err, io.EOF), err == nil && found.seq-1 > after:
			high = middle
		case err != nil:
			return mark{}, err
		default:
			low = found
		}
	}
	return low, nil
}

// probe gives the first line that begins behind an offset, io.EOF when none does.
func probe(open func(offset int64) (io.ReadCloser, error), offset int64) (mark, error) {
	content, err := open(offset)
	if err != nil {
		return mark{}, err
	}
	defer content.Close()
	in := lineReader{in: bufio.NewReaderSize(content, small)}
	rest, err := in.raw()
	if err != nil {
		return mark{}, err
	}
	found := mark{offset: offset + int64(len(rest))}
	line, _, err := in.read()
	found.seq = line.Seq
	return found, err
}
