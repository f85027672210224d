package testresults

import (
	"slices"
	"strings"
	"testing"
)

func linesOf(data string) []string {
	var l lines
	var got []string
	take := func(p piece) {
		if p.first {
			got = append(got, p.text)
		}
	}
	l.write([]byte(data), take)
	l.end(take)
	return got
}

func TestLines_takeOutWhatIsForTerminals(t *testing.T) {
	for name, test := range map[string]struct {
		data string
		want []string
	}{
		"colours":               {"\x1b[1m\x1b[38;5;9mred\x1b[0m\n", []string{"red"}},
		"a link":                {"\x1b]8;;https://example.org\x1b\\text\x1b]8;;\x07!\n", []string{"text!"}},
		"a title":               {"\x1b]0;npm test\x07ok\n", []string{"ok"}},
		"a character set":       {"\x1b(Bok\n", []string{"ok"}},
		"a device string":       {"\x1bPq#0\x1b\\ok\n", []string{"ok"}},
		"a keypad mode":         {"\x1b=ok\x1b>\n", []string{"ok"}},
		"an unfinished one":     {"\x1b]0;never ends\nok 1\n", []string{"", "ok 1"}},
		"at the end":            {"ok\x1b[", []string{"ok"}},
		"windows":               {"a\r\nb\r\r\n", []string{"a", "b"}},
		"a progress bar":        {"10%\r50%\rdone\n", []string{"done"}},
		"an unfinished bar":     {"10%\r50%", []string{"50%"}},
		"controls":              {"a\x00\x08b\x7f\tc\n", []string{"ab\tc"}},
		"one-byte introducers":  {"caf\u00e9 \u009b31m\n", []string{"caf\u00e9 \u009b31m"}},
		"no newline at the end": {"a\nb", []string{"a", "b"}},
		"nothing":               {"", nil},
	} {
		if got := linesOf(test.data); !slices.Equal(got, test.want) {
			t.Errorf("%s: lines of %q = %q, want %q", name, test.data, got, test.want)
		}
	}
}

func TestLines_giveLongOnesInPieces(t *testing.T) {
	var l lines
	var got []piece
	take := func(p piece) { got = append(got, p) }
	long := strings.Repeat("x", maxPiece)
	l.write([]byte(long+"yz\n"+long+"\nshort\n"), take)
	want := []piece{
		{text: long, first: true},
		{text: "yz", last: true},
		{text: long, first: true, last: true},
		{text: "short", first: true, last: true},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %d pieces that are not those wanted", len(got))
	}
}
