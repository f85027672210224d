package search

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A match is one line that grep found. Of a very long one, Text is the part
// around the first place where the term stands literally, Offset how many bytes
// of the line come before it.
type match struct {
	Path   string `json:"path"`
	Line   int    `json:"line"`
	Text   string `json:"text"`
	Cut    bool   `json:"cut,omitempty"`
	Offset int    `json:"offset,omitempty"`

	whole string
}

// What is shown of a very long line.
const (
	maxLine    = 4 << 10
	lineBefore = 200
)

// parse reads grep's output: name, NUL, line number, colon, text, newline. The
// output is the sandbox's, so what does not read like that ends the reading.
// It gives the matches by path, and whether there were more.
func parse(output []byte, term string, cut bool, most int) ([]match, bool) {
	matches := []match{}
	for len(output) > 0 {
		record, rest, ok := next(output)
		if !ok {
			matches = rescue(matches, output, term)
			cut = true
			break
		}
		if len(matches) == most {
			cut = true
			break
		}
		matches = append(matches, record.match(term))
		output = rest
	}
	slices.SortStableFunc(matches, func(a, b match) int { return strings.Compare(a.Path, b.Path) })
	return matches, cut
}

// rescue keeps the beginning of a record whose end was cut off when it is all
// that was found: one huge line shall not look like none.
func rescue(matches []match, output []byte, term string) []match {
	if len(matches) > 0 {
		return matches
	}
	record, _, ok := next(append(wholeRunes(output), '\n'))
	if !ok {
		return matches
	}
	return append(matches, record.match(term))
}

// A record is a match as bytes.
type record struct {
	path []byte
	line int
	text []byte
}

func next(output []byte) (r record, rest []byte, ok bool) {
	path, output, okPath := bytes.Cut(output, []byte{0})
	number, output, okNumber := bytes.Cut(output, []byte{':'})
	text, rest, okText := bytes.Cut(output, []byte{'\n'})
	line, err := strconv.Atoi(string(number))
	return record{path, line, text}, rest, okPath && okNumber && okText && err == nil && line > 0
}

func (r record) match(term string) match {
	m := match{Path: valid(r.path), Line: r.line, whole: valid(r.text)}
	part, offset := preview(r.text, term)
	m.Text, m.Offset, m.Cut = valid(part), offset, len(part) < len(r.text)
	return m
}

func valid(text []byte) string { return strings.ToValidUTF8(string(text), "\uFFFD") }

// preview gives the part of a line that is shown, and where it begins.
func preview(text []byte, term string) ([]byte, int) {
	if len(text) <= maxLine {
		return text, 0
	}
	start := 0
	for alternative := range strings.SplitSeq(term, "\n") {
		if at := bytes.Index(text, []byte(alternative)); alternative != "" && at >= 0 {
			start = max(at-lineBefore, 0)
			break
		}
	}
	for start > 0 && !utf8.RuneStart(text[start]) {
		start--
	}
	return wholeRunes(text[start:min(start+maxLine, len(text))]), start
}

// wholeRunes drops a rune that is cut at the end. Bytes that are no UTF-8 stay.
func wholeRunes(text []byte) []byte {
	for back := 1; back < utf8.UTFMax && back <= len(text); back++ {
		last := text[len(text)-back:]
		if utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				return slices.Clip(text[:len(text)-back])
			}
			break
		}
	}
	return slices.Clip(text)
}
