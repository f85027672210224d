package sandboxclient

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseCheckout(t *testing.T) {
	sha := strings.Repeat("ab", 20)
	got := ParseCheckout([]byte("warning lfs_pointers Pointers: 2\ncommit " + sha + "\nbranch feature/x\n"))
	want := CheckedOut{Commit: sha, Ref: "feature/x", Warnings: []CheckoutWarning{{"lfs_pointers", "Pointers: 2"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseCheckout_trustsNothing(t *testing.T) {
	for _, stdout := range []string{
		"", "\n\n", "commit\n", "commit xyz\n", "commit " + strings.Repeat("a", 41) + "\n", " commit " + strings.Repeat("a", 40) + "\n",
		"branch \n", "branch -x\n", "branch a\x1b[0m\n", "branch a\xff\n", "branch " + strings.Repeat("x", maxRef+1) + "\n",
		"warning\n", "warning x\n", "warning X y\n", "warning \x1b y\n", "warning " + strings.Repeat("x", 50) + " y\n", "\x00\x01\x02",
	} {
		if got := ParseCheckout([]byte(stdout)); got.Commit != "" || got.Ref != "" || got.Warnings != nil {
			t.Errorf("%q is %+v", stdout, got)
		}
	}
	flood := ParseCheckout([]byte(strings.Repeat("warning x \x1b]0;y\a"+strings.Repeat("z", 2000)+"\n", 10_000)))
	if len(flood.Warnings) != maxWarnings {
		t.Fatalf("%d warnings", len(flood.Warnings))
	}
	for _, w := range flood.Warnings {
		if len(w.Message) > maxMessage+len("…") || strings.ContainsFunc(w.Message, isControl) {
			t.Errorf("it says %q", w.Message)
		}
	}
}

func FuzzParseCheckout(f *testing.F) {
	f.Add([]byte("commit " + strings.Repeat("ab", 20) + "\nbranch x\nwarning a b\n"))
	f.Fuzz(func(t *testing.T, stdout []byte) {
		out := ParseCheckout(stdout)
		if out.Commit != "" && !isObjectName(out.Commit) || out.Ref != "" && !validRef(out.Ref) || len(out.Warnings) > maxWarnings {
			t.Errorf("got %+v", out)
		}
	})
}
