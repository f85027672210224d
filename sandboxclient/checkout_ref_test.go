package sandboxclient

import (
	"strings"
	"testing"
)

func TestCheckout_refs(t *testing.T) {
	sha := "0123456789abcdefABCDEF0123456789abcdef01"
	for given, want := range map[string][2]string{
		"":                          {howClone, ""},
		" ":                         {howClone, ""},
		"HEAD":                      {howClone, ""},
		"main\n":                    {howClone, "main"},
		"refs/heads/main":           {howClone, "main"},
		"v1.0":                      {howClone, "v1.0"},
		"feature/ü+%$(id)":          {howClone, "feature/ü+%$(id)"},
		"\xff\xfe":                  {howClone, "\xff\xfe"},
		"refs/tags/v1":              {howFetch, "refs/tags/v1"},
		"refs/pull/1/head":          {howFetch, "refs/pull/1/head"},
		sha:                         {howCommit, strings.ToLower(sha)},
		sha + sha[:24]:              {howCommit, strings.ToLower(sha + sha[:24])},
		sha[:39]:                    {howGuess, sha[:39]},
		"dead":                      {howGuess, "dead"},
		"2024":                      {howGuess, "2024"},
		"bee":                       {howClone, "bee"},
		"deadbeef/x":                {howClone, "deadbeef/x"},
		strings.Repeat("y", maxRef): {howClone, strings.Repeat("y", maxRef)},
	} {
		how, ref, err := Checkout{Ref: given}.how()
		if got := [2]string{how, ref}; err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", given, got, err, want)
		}
	}
}

func TestCheckout_refusedRefs(t *testing.T) {
	for _, ref := range []string{
		"-", "--upload-pack=x", "-b", "a b", "a\nb", "a\x00b", "a\x7f", "a..b", "a~1", "a^", "a:b", "a?", "a*", "a[b", `a\b`,
		"a@{1}", "@", "/a", "a/", "a//b", ".a", "a/.b", "a.", "a.lock", "a.lock/b", "refs/heads/", "refs/heads/-x", "+a:b",
		strings.Repeat("y", maxRef+1),
	} {
		if _, err := (Checkout{Repository: "https://example.org/p", Ref: ref}).Command(); err == nil || CodeOf(err) != CodeInvalid {
			t.Errorf("%q: %v", ref, err)
		}
	}
}
