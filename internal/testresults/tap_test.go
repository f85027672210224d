package testresults

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tapTests has the specification's own kinds of streams (TAP 13 and 14), and
// those that producers make of them.
var tapTests = []struct {
	name string
	tap  string
	want *Results // nil: it is not TAP
	done bool
}{
	{
		name: "the plan first",
		tap: `TAP version 14
1..4
ok 1 - Input file opened
not ok 2 - First line of the input valid
  ---
  message: 'First line invalid'
  severity: fail
  data:
    got: 'Flirble'
    expect: 'Fnible'
  ...
ok 3 - Read the rest of the file
not ok 4 - Summarized correctly # TODO: not written yet
`,
		want: tapResults(2, 1, 0, 1, Failure{Name: "First line of the input valid", Message: "First line invalid"}),
		done: true,
	},
	{
		name: "the plan last, without numbers",
		tap: `TAP version 14
ok - created Board
ok
ok
not ok
1..4
`,
		want: tapResults(3, 1, 0, 0, Failure{}),
		done: true,
	},
	{
		name: "no version",
		tap:  "1..2\nok 1\nnot ok 2 - second\n",
		want: tapResults(1, 1, 0, 0, Failure{Name: "second"}),
		done: true,
	},
	{
		name: "no version and the plan last",
		tap:  "ok 1 one\nok 2 two\n1..2\n",
		want: tapResults(2, 0, 0, 0),
		done: true,
	},
	{
		name: "no version and no plan is something else",
		tap:  "ok 1 item\nok 2 items\n",
	},
	{
		name: "a plan alone is something else",
		tap:  "1..10\n",
	},
	{
		name: "words",
		tap:  "ok\nnot ok then\nok computer\n1...3\n# tests 5\n# pass 5\n",
	},
	{
		name: "skipping all",
		tap:  "TAP version 14\n1..0 # skip WWW::Mechanize not installed\n",
		want: tapResults(0, 0, 0, 0),
		done: true,
	},
	{
		name: "directives",
		tap: `TAP version 14
1..7
ok 1 - a # SKIP no hardware
ok 2 - b # skipped: no time
not ok 3 - c # Skip
not ok 4 - d # TODO bend space
ok 5 - e # todo
ok 6 - issue #12 is fixed
ok 7 - escaped \# TODO and \\ slash
`,
		want: tapResults(2, 0, 3, 2),
		done: true,
	},
	{
		name: "bailing out",
		tap:  "TAP version 14\n1..573\nnot ok 1 - database handle\nBail out! Couldn't connect to database.\n",
		want: tapResults(0, 1, 0, 0, Failure{Name: "database handle"}, Failure{Name: "Bail out!", Message: "Couldn't connect to database."}),
		done: true,
	},
	{
		name: "bailing out in a subtest",
		tap:  "TAP version 14\n# Subtest: inner\n    ok 1 - fine\n    bail out! GERONIMO\n",
		want: tapResults(1, 0, 0, 0, Failure{Name: "Bail out!", Message: "GERONIMO"}),
		done: true,
	},
	{
		name: "subtests",
		tap: `TAP version 14
1..2
# Subtest: foo.tap
    # Subtest: inside
        1..1
        not ok 1 - deep
          ---
          message: too deep
          at:
            file: test/foo.js
            line: 12
          ...
    not ok 1 - inside
    ok 2 - this passed
    1..2
not ok 1 - foo.tap
# Subtest: bar.tap
    ok 1 - object should be a Bar
    1..1
ok 2 - bar.tap
`,
		want: tapResults(2, 1, 0, 0, Failure{Name: "foo.tap > inside > deep", File: "test/foo.js", Line: 12, Message: "too deep"}),
		done: true,
	},
	{
		name: "subtests that nothing announces",
		tap:  "TAP version 14\n    1..1\n    not ok 1 - a\nnot ok 1 - bare\n1..1\n",
		want: tapResults(0, 1, 0, 0, Failure{Name: "bare > a"}),
		done: true,
	},
	{
		name: "a subtest that fails by itself",
		tap:  "TAP version 14\n# Subtest: s\n    ok 1 - a\n    1..1\nnot ok 1 - s\n  ---\n  error: 'hook broke'\n  ...\n1..1\n",
		want: tapResults(1, 1, 0, 0, Failure{Name: "s", Message: "hook broke"}),
		done: true,
	},
	{
		name: "a subtest with no tests",
		tap:  "TAP version 14\n# Subtest: s\n    1..0\nok 1 - s # SKIP no tests\n1..1\n",
		want: tapResults(0, 0, 1, 0),
		done: true,
	},
	{
		name: "a subtest that is to do",
		tap:  "TAP version 14\n# Subtest: s\n    not ok 1 - a\n    1..1\nnot ok 1 - s # TODO\n1..1\n",
		want: tapResults(0, 0, 0, 1),
		done: true,
	},
	{
		name: "subtests in braces",
		tap: `TAP version 13
1..2
not ok 1 - outer # time=5ms {
    ok 1 - a
    not ok 2 - b
        ---
        at: "/workspace/app/test/b.js:3:1"
        error:
            message: "two
lines with } and ok 1"
        ...
    1..2
}
ok 2 - other {
    1..1
    ok 1 - c # SKIP
}
# time=20ms
`,
		want: with(tapResults(1, 1, 1, 0, Failure{Name: "outer > b", File: "test/b.js", Line: 3, Message: "two\nlines with } and ok 1"}), 20),
		done: true,
	},
	{
		name: "braces on their own line",
		tap:  "TAP version 13\n1..1\nnot ok 1 - outer # time=5ms\n  ---\n  at: x\n  ...\n{\n    not ok 1 - a\n    1..1\n}\n",
		want: with(tapResults(0, 1, 0, 0, Failure{Name: "outer > a"}), 5),
		done: true,
	},
	{
		name: "too few",
		tap:  "TAP version 14\n1..5\nok 1\nok 2\n",
		want: tapResults(2, 3, 0, 0, Failure{Name: "plan", Message: "3 of 5 planned tests did not run"}),
	},
	{
		name: "too many",
		tap:  "TAP version 14\n1..1\nok 1\nok 2\n",
		want: tapResults(2, 0, 0, 0, Failure{Name: "plan", Message: "2 tests ran, but 1 were planned"}),
		done: true,
	},
	{
		name: "too few in a subtest",
		tap:  "TAP version 14\n    1..2\n    ok 1\nok 1 - s\n1..1\n",
		want: tapResults(1, 1, 0, 0, Failure{Name: "s > plan", Message: "1 of 2 planned tests did not run"}),
		done: true,
	},
	{
		name: "broken off",
		tap:  "TAP version 14\n# Subtest: s\n    not ok 1 - a\n      ---\n      error: |-\n        first\n        second\n",
		want: tapResults(0, 1, 0, 0,
			Failure{Name: "s > a", Message: "first\nsecond"},
			Failure{Name: "plan", Message: "the run broke off before its plan"}),
	},
	{
		name: "other output in between",
		tap:  "TAP version 14\nhello\n1..2\n\nok 1\n  indented\nokay\nnot okay\n    }\n# comment\nok 2\n... more\n",
		want: tapResults(2, 0, 0, 0),
		done: true,
	},
	{
		name: "strict",
		tap:  "TAP version 14\npragma +strict\n1..2\nok 1\nhello\npragma -strict\nhello\nok 2\nhello\n",
		want: tapResults(2, 0, 0, 0, Failure{Name: "not TAP", Message: "hello"}),
		done: true,
	},
	{
		name: "two streams",
		tap:  "TAP version 13\n1..1\nok 1\nTAP version 14\n1..1\nnot ok 1 - a\n",
		want: tapResults(1, 1, 0, 0, Failure{Name: "a"}),
		done: true,
	},
	{
		name: "two streams without versions",
		tap:  "1..1\nok 1\n1..1\nok 1 - a\nok 1\nok 2\n1..2\n",
		want: tapResults(4, 0, 0, 0),
		done: true,
	},
	{
		name: "no other message than a comparison",
		tap:  "TAP version 13\nnot ok 1 a\n  ---\n    operator: equal\n    expected: 3\n    actual:   2\n    at: Test.<anonymous> (/workspace/app/test/a.js:2:58)\n  ...\n1..1\n",
		want: tapResults(0, 1, 0, 0, Failure{Name: "a", File: "test/a.js", Line: 2, Message: "operator: equal\nexpected: 3\nactual: 2"}),
		done: true,
	},
}

func tapResults(passed, failed, skipped, todo int, failures ...Failure) *Results {
	return &Results{
		Framework: "tap",
		Passed:    passed,
		Failed:    failed,
		Skipped:   skipped,
		Todo:      todo,
		Total:     passed + failed + skipped + todo,
		Failures:  append([]Failure{}, failures...),
	}
}

func with(r *Results, durationMS float64) *Results {
	r.DurationMS = durationMS
	return r
}

func TestParser_tap(t *testing.T) {
	for _, test := range tapTests {
		t.Run(strings.ReplaceAll(test.name, " ", "_"), func(t *testing.T) {
			p := NewParser()
			p.Write("stdout", []byte(test.tap))
			if p.Done() != test.done {
				t.Errorf("Done() = %t, want %t", p.Done(), test.done)
			}
			p.Close()
			got, _ := p.Summary()
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("results (-want +got):\n%s", diff)
			}
		})
	}
}

func tapSeeds() []string {
	var seeds []string
	for _, test := range tapTests {
		seeds = append(seeds, test.tap)
	}
	return seeds
}
