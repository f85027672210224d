package search

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A match is one line that grep found, with the lines around it.
type match struct {
	Path string `json:"path"`
	line
	Before []line `json:"before,omitempty"`
	After  []line `json:"after,omitempty"`
}

// A line of a file. Of a very long one, Text is the part around the first place
// where the term stands literally, Offset how many bytes come before it.
type line struct {
	Line   int    `json:"line"`
	Text   string `json:"text"`
	Cut    bool   `json:"cut,omitempty"`
	Offset int    `json:"offset,omitempty"`
}

// What is shown of a very long line.
const (
	maxLine    = 4 << 10
	lineBefore = 200
)

// structured gives the matches as JSON shows them. A line may stand around
// several, so their text is bounded again: it says whether there was more.
func (q query) structured(records []record, most int64) ([]match, bool) {
	matches := []match{}
	for _, s := range spans(records, q.context) {
		if most <= 0 {
			return matches, true
		}
		r := records[s.match]
		matches = append(matches, match{
			Path:   valid(r.path),
			line:   q.line(r),
			Before: q.lines(records[s.from:s.match]),
			After:  q.lines(records[s.match+1 : s.to]),
		})
		for _, r := range records[s.from:s.to] {
			most -= int64(min(len(r.text), maxLine))
		}
	}
	return matches, false
}

func (q query) lines(records []record) []line {
	var lines []line
	for _, r := range records {
		lines = append(lines, q.line(r))
	}
	return lines
}

func (q query) line(r record) line {
	part, offset := q.preview(r.text)
	return line{Line: r.line, Text: valid(part), Offset: offset, Cut: len(part) < len(r.text)}
}

// plain gives the matches as grep prints them.
func (q query) plain(records []record) string {
	var b strings.Builder
	printed := 0
	for _, s := range spans(records, q.context) {
		if q.context > 0 && 0 < printed && printed <= s.from && !follows(records[printed-1], records[s.from]) {
			b.WriteString("--\n")
		}
		for _, r := range records[max(s.from, printed):max(s.to, printed)] {
			sign := "-"
			if r.matches {
				sign = ":"
			}
			fmt.Fprintf(&b, "%s%s%d%s%s\n", valid(r.path), sign, r.line, sign, valid(r.text))
		}
		printed = max(s.to, printed)
	}
	return b.String()
}

func valid(text []byte) string { return strings.ToValidUTF8(string(text), "\uFFFD") }

// preview gives the part of a line that is shown, and where it begins.
func (q query) preview(text []byte) ([]byte, int) {
	if len(text) <= maxLine {
		return text, 0
	}
	start := max(q.find(text)-lineBefore, 0)
	for start > 0 && !utf8.RuneStart(text[start]) {
		start--
	}
	return wholeRunes(text[start:min(start+maxLine, len(text))]), start
}

// maxAlternatives bounds how many of a term's are looked for in a long line.
const maxAlternatives = 16

// find gives the first place of an alternative that stands literally in the
// text; 0 if none does.
func (q query) find(text []byte) int {
	same := func(s []byte) []byte { return s }
	if q.ignoreCase {
		same = lower
	}
	text = same(text)
	for i, alternative := range strings.SplitN(q.term, "\n", maxAlternatives+1) {
		at := bytes.Index(text, same([]byte(alternative)))
		if i < maxAlternatives && alternative != "" && at >= 0 {
			return at
		}
	}
	return 0
}

// lower is bytes.ToLower for ASCII alone, which keeps every byte in its place.
func lower(text []byte) []byte {
	text = slices.Clone(text)
	for i, c := range text {
		if 'A' <= c && c <= 'Z' {
			text[i] = c + 'a' - 'A'
		}
	}
	return text
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
