package search

import (
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// three is a file with matches on lines 3, 4 and 9, and two lines of context.
const three = "f\x001-a\nf\x002-b\nf\x003:x\nf\x004:x\nf\x005-c\nf\x006-d\nf\x007-e\nf\x008-f\nf\x009:x\n"

func TestStructured_context(t *testing.T) {
	records, more := parse([]byte(three), 10, false)
	got, cut := query{context: 2}.structured(records, maxOutput)
	want := []match{
		{Path: "f", line: line{Line: 3, Text: "x"}, Before: []line{{Line: 1, Text: "a"}, {Line: 2, Text: "b"}}, After: []line{{Line: 4, Text: "x"}, {Line: 5, Text: "c"}}},
		{Path: "f", line: line{Line: 4, Text: "x"}, Before: []line{{Line: 2, Text: "b"}, {Line: 3, Text: "x"}}, After: []line{{Line: 5, Text: "c"}, {Line: 6, Text: "d"}}},
		{Path: "f", line: line{Line: 9, Text: "x"}, Before: []line{{Line: 7, Text: "e"}, {Line: 8, Text: "f"}}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(match{})); diff != "" || more || cut {
		t.Error(diff, more, cut)
	}
}

// Lines that stood before a match which is not shown are not shown either.
func TestPlain_cutBetweenMatches(t *testing.T) {
	records, more := parse([]byte(three), 2, false)
	const want = "f-1-a\nf-2-b\nf:3:x\nf:4:x\nf-5-c\nf-6-d\n"
	if got := (query{context: 2}).plain(records); got != want || !more {
		t.Errorf("%q, more %v", got, more)
	}
}

// Lines around several matches cannot make an answer as large as they like.
func TestStructured_bounded(t *testing.T) {
	records, _ := parse([]byte(three), 10, false)
	got, cut := query{context: 2}.structured(records, 6)
	if len(got) != 2 || !cut {
		t.Errorf("%d matches, cut %v", len(got), cut)
	}
}

// The sandbox may print anything.
func FuzzParse(f *testing.F) {
	f.Add([]byte(twoFiles), "hello", true, uint8(0))
	f.Add([]byte(three), "x", false, uint8(2))
	f.Add([]byte("\x00\n:\x00"), "", false, uint8(1))
	f.Add([]byte("a\x00-1:x\n"), "x\ny", true, uint8(20))
	f.Add([]byte("a\x007-x\na\x007:y\na\x001:z\n--\n"), "x", false, uint8(3))
	f.Fuzz(func(t *testing.T, output []byte, term string, cut bool, context uint8) {
		const most = 5
		q := query{term: term, context: int(context % (maxContext + 1)), ignoreCase: cut}
		records, more := parse(output, most, cut)
		place(records, "/workspace")
		matches, _ := q.structured(records, maxOutput)
		if len(matches) > most || cut && !more || len(records) > 0 && records[0].path[0] != '/' {
			t.Errorf("%d matches, more %v", len(matches), more)
		}
		for _, m := range matches {
			if len(m.Before) > q.context || len(m.After) > q.context {
				t.Errorf("%d lines before, %d after", len(m.Before), len(m.After))
			}
			for _, l := range append(append(m.Before, m.After...), m.line) {
				if !utf8.ValidString(m.Path+l.Text) || l.Line < 1 || len(l.Text) > 3*maxLine {
					t.Errorf("%+v", l)
				}
			}
		}
		if text := q.plain(records); !utf8.ValidString(text) || (text == "") != (len(matches) == 0) {
			t.Errorf("%d matches are %q", len(matches), text)
		}
	})
}
