package testresults

// maxPiece is how much of a line is seen at once.
const maxPiece = 8 << 10

// A piece is a line, or a part of one that is longer than maxPiece.
type piece struct {
	text        string
	first, last bool // of its line
}

// lines cuts a stream into lines, without terminal sequences and control
// characters. A carriage return begins the line anew, as on a screen.
type lines struct {
	buf      []byte
	further  bool // what is in buf goes on a line whose beginning was given out
	returned bool // a carriage return came last
	escape   escape
}

// write gives each piece of line that data completes to take.
func (l *lines) write(data []byte, take func(piece)) {
	for len(data) > 0 {
		n := l.textLen(data)
		if n == 0 {
			l.control(data[0], take)
			n = 1
		} else {
			l.text(data[:n], take)
		}
		data = data[n:]
	}
}

// textLen counts the bytes at the beginning of data that are nothing but text.
func (l *lines) textLen(data []byte) int {
	if l.escape != plain {
		return 0
	}
	for i, b := range data {
		if b < ' ' && b != '\t' || b == 0x7f {
			return i
		}
	}
	return len(data)
}

func (l *lines) text(data []byte, take func(piece)) {
	if l.returned {
		l.buf, l.further, l.returned = l.buf[:0], false, false
	}
	for len(data) > 0 {
		if len(l.buf) == maxPiece {
			l.give(false, take)
		}
		n := min(len(data), maxPiece-len(l.buf))
		l.buf = append(l.buf, data[:n]...)
		data = data[n:]
	}
}

// control takes a control character, or a byte of a terminal sequence.
func (l *lines) control(b byte, take func(piece)) {
	switch {
	case l.escape.drop(b):
	case b == '\n':
		l.give(true, take)
	case b == '\r':
		l.returned = true
	}
}

// end gives out a last line that no newline ended.
func (l *lines) end(take func(piece)) {
	if len(l.buf) > 0 || l.further {
		l.give(true, take)
	}
}

func (l *lines) give(last bool, take func(piece)) {
	take(piece{text: string(l.buf), first: !l.further, last: last})
	l.buf, l.further, l.returned = l.buf[:0], !last, false
}
