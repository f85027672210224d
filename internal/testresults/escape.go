package testresults

// An escape takes terminal sequences (colours, cursor movements, titles) out of
// text that comes in pieces cut anywhere. Only sequences begun by ESC are known:
// the one-byte forms of ECMA-48 are parts of UTF-8 runes.
type escape int

const (
	plain        escape = iota
	begun               // after ESC
	intermediate        // ESC and blanks to slash: one more byte
	control             // ESC [: to a byte from @ to ~
	stringed            // ESC ], P, X, ^ or _: to BEL or ESC \
)

const esc, bell = 0x1b, 0x07

// drop reports whether b belongs to a sequence. A line's end ends any, so that
// one that was cut off hides nothing further down.
func (e *escape) drop(b byte) bool {
	if b == '\n' {
		*e = plain
	}
	if b == esc {
		*e = begun
		return true
	}
	before := *e
	*e = before.after(b)
	return before != plain
}

// after gives the state after a byte that is neither ESC nor a line's end.
func (e escape) after(b byte) escape {
	switch {
	case e == begun:
		return opened(b)
	case e == intermediate && b >= ' ' && b <= '/':
		return intermediate
	case e == control && (b < '@' || b > '~'):
		return control
	case e == stringed && b != bell:
		return stringed
	}
	return plain
}

// opened gives the state after ESC and b.
func opened(b byte) escape {
	switch {
	case b == '[':
		return control
	case b == ']' || b == 'P' || b == 'X' || b == '^' || b == '_':
		return stringed
	case b >= ' ' && b <= '/':
		return intermediate
	}
	return plain
}
