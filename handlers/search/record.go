package search

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
)

// A record is one line that grep printed: one that matches, or one beside it.
type record struct {
	path    []byte
	line    int
	text    []byte
	matches bool
}

// parse reads grep's output: name, NUL, line number, a colon where the line
// matches and a hyphen where it is context, text, newline. The output is the
// sandbox's, so what does not read like that ends the reading. It gives the
// records by path and line, with at most that many matches, and whether there
// were more.
func parse(output []byte, most int, cut bool) ([]record, bool) {
	var records []record
	found := 0
	for len(output) > 0 {
		r, rest, ok := next(output)
		if !ok && found == 0 {
			r, ok = unfinishedRecord(output)
			rest, cut = nil, true
		}
		if !ok || r.matches && found == most {
			cut = true
			break
		}
		if r.matches {
			found++
		}
		records = append(records, r)
		output = rest
	}
	slices.SortStableFunc(records, func(a, b record) int {
		return cmp.Or(bytes.Compare(a.path, b.path), cmp.Compare(a.line, b.line))
	})
	return records, cut
}

func next(output []byte) (r record, rest []byte, ok bool) {
	path, output, ok := bytes.Cut(output, []byte{0})
	end := bytes.IndexAny(output, ":-")
	if !ok || len(path) == 0 || end < 0 {
		return record{}, nil, false
	}
	line, err := strconv.Atoi(string(output[:end]))
	text, rest, ok := bytes.Cut(output[end+1:], []byte{'\n'})
	return record{path, line, text, output[end] == ':'}, rest, ok && err == nil && line > 0
}

// unfinishedRecord reads a record whose end was cut off: when it is all that
// was found, one huge line shall not look like none.
func unfinishedRecord(output []byte) (record, bool) {
	r, _, ok := next(append(wholeRunes(output), '\n'))
	return r, ok
}

// A span is a match among its records: what stands around it, and how far.
type span struct{ from, match, to int }

// spans finds the matches with at most that many lines on each side. What is
// near no match is left out.
func spans(records []record, context int) []span {
	var all []span
	for i, r := range records {
		if !r.matches {
			continue
		}
		s := span{i, i, i + 1}
		for s.from > 0 && i-s.from < context && follows(records[s.from-1], records[s.from]) {
			s.from--
		}
		for s.to < len(records) && s.to-i <= context && follows(records[s.to-1], records[s.to]) {
			s.to++
		}
		all = append(all, s)
	}
	return all
}

// follows says whether b is the line after a.
func follows(a, b record) bool { return a.line+1 == b.line && bytes.Equal(a.path, b.path) }
