package sandboxclient

import (
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestText_replacesEachInvalidByte(t *testing.T) {
	cases := []struct {
		data      string
		truncated bool
		want      string
	}{
		{"héllo ☕", false, "héllo ☕"},
		{"a\xff\xfeb", false, "a\uFFFD\uFFFDb"},
		{"caf\xc3", false, "caf\uFFFD"},
		{"caf\xc3", true, "caf"},
		{"\xf0\x9f\x98", true, ""},
		{"\xf0\x9f\x98\x80", true, "😀"},
		{"\x80\x80\x80\x80", true, "\uFFFD\uFFFD\uFFFD\uFFFD"},
		{"", true, ""},
	}
	for _, c := range cases {
		if got := text([]byte(c.data), c.truncated); got != c.want {
			t.Errorf("text(%q, %v) = %q, want %q", c.data, c.truncated, got, c.want)
		}
	}
}

// Wherever valid text is cut, what is left of it is a prefix without a broken rune.
func TestText_cutsNoRune(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := rapid.String().Draw(t, "whole")
		cut := rapid.IntRange(0, len(whole)).Draw(t, "cut")
		got := text([]byte(whole[:cut]), true)
		if !utf8.ValidString(got) || whole[:len(got)] != got || cut-len(got) >= utf8.UTFMax {
			t.Fatalf("text(%q cut at %d) = %q", whole, cut, got)
		}
	})
}
