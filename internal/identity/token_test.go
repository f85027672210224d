package identity

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestToken_readsBack(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		token := NewToken()
		text := token.Reveal()
		if got, ok := ParseToken(text); !ok || got != token || len(text) != 51 {
			t.Fatalf("%s reads as %#v, %v", text, got, ok)
		}
		if seen[text] {
			t.Fatal("the same key twice")
		}
		seen[text] = true
	}
}

// A key that was changed in one place, cut or lengthened is none.
func TestToken_noticesMistakes(t *testing.T) {
	text := NewToken().Reveal()
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
		sign := rapid.SampledFrom([]byte("abcz27_-A0 \x00\xff")).Draw(t, "sign")
		if text[at] == sign {
			return
		}
		for _, wrong := range []string{text[:at] + string(sign) + text[at+1:], text[:at], text[:at] + text[at+1:], text + string(sign)} {
			if _, ok := ParseToken(wrong); ok {
				t.Fatalf("%q was read as a key", wrong)
			}
		}
	})
}

func FuzzParseToken(f *testing.F) {
	f.Add(NewToken().Reveal())
	f.Add("sg_________________________________________________")
	f.Fuzz(func(t *testing.T, text string) {
		if token, ok := ParseToken(text); ok && token.Reveal() != text {
			t.Errorf("%q is read as %q", text, token.Reveal())
		}
	})
}

// What is printed of a key by mistake is not secret.
func TestToken_isNotPrinted(t *testing.T) {
	token := NewToken()
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if text := fmt.Sprintf(verb, token); strings.Contains(text, token.secret) {
			t.Errorf("%s prints %s", verb, text)
		}
	}
}

func TestInQuery(t *testing.T) {
	text := NewToken().Reveal()
	for query, want := range map[string]bool{
		"":                               false,
		"q=sg_":                          false,
		"q=" + text[:len(text)-1]:        false,
		"q=sg_abcdefgh_" + text[12:]:     false, // the checksum is not right
		"key=" + text:                    true,
		"a=b&anything=x" + text + "&c=":  true,
		"q=" + url.QueryEscape("<"+text): true,
		"q=" + strings.ReplaceAll(text, "_", "%5F"): true,
	} {
		if got := inQuery(query); got != want {
			t.Errorf("%s: %v", query, got)
		}
	}
}
