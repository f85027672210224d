package testresults

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// However the output is cut, the results are the same, and they are bounded.
func FuzzParser(f *testing.F) {
	for _, name := range recordings(f) {
		f.Add(recorded(f, name+".stdout"), recorded(f, name+".stderr"), uint64(1))
	}
	for _, seed := range tapSeeds() {
		f.Add([]byte(seed), []byte("  1 passing (1s)\n  1 failing\n\n  1) a\n       b:\n"), uint64(2))
	}
	f.Fuzz(func(t *testing.T, stdout, stderr []byte, seed uint64) {
		whole := NewParser()
		whole.Write("stdout", stdout)
		whole.Write("stderr", stderr)

		pieces := NewParser()
		random := rand.New(rand.NewPCG(seed, 0))
		writePieces(pieces, "stdout", stdout, random)
		writePieces(pieces, "stderr", stderr, random)

		same(t, whole, pieces)
		whole.Close()
		pieces.Close()
		same(t, whole, pieces)
	})
}

func writePieces(p *Parser, stream string, data []byte, random *rand.Rand) {
	for len(data) > 0 {
		n := min(len(data), 1+random.IntN(20))
		p.Write(stream, data[:n])
		data = data[n:]
	}
}

func same(t *testing.T, a, b *Parser) {
	t.Helper()
	want, known := a.Summary()
	got, gotKnown := b.Summary()
	if diff := cmp.Diff(want, got); diff != "" || known != gotKnown || a.Done() != b.Done() {
		t.Errorf("in pieces it is %t %t, not %t %t:\n%s", gotKnown, b.Done(), known, a.Done(), diff)
	}
	if known {
		checkBounds(t, got)
	}
}

func checkBounds(t *testing.T, r *Results) {
	t.Helper()
	for _, n := range []int{r.Passed, r.Failed, r.Skipped, r.Todo, r.Total} {
		if n < 0 {
			t.Errorf("negative counts: %+v", r)
		}
	}
	if !(r.DurationMS >= 0) || len(r.Failures) > maxFailures || r.Failures == nil || r.Framework == "" {
		t.Errorf("out of bounds: %+v", r)
	}
	for _, failure := range r.Failures {
		checkText(t, failure.Name, maxName)
		checkText(t, failure.File, maxName)
		checkText(t, failure.Message, maxMessage)
	}
}

func checkText(t *testing.T, text string, limit int) {
	t.Helper()
	if len(text) > limit || !utf8.ValidString(text) || strings.ContainsAny(text, "\x1b\x00\r") {
		t.Errorf("%d bytes, at most %d, or not printable: %.80q", len(text), limit, text)
	}
}

func FuzzParseReport(f *testing.F) {
	for _, name := range []string{"mocha-xunit", "node24-junit", "vitest-junit", "jest-json", "vitest-json", "mocha-json"} {
		_, report, _ := strings.Cut(string(recorded(f, name+".stdout")), "\n\n")
		f.Add(report)
	}
	f.Add(laughs)
	f.Fuzz(func(t *testing.T, text string) {
		if report, err := ParseReport("fuzzed", strings.NewReader(text)); err == nil {
			checkBounds(t, report)
		}
	})
}
