package testresults

import "testing"

func TestFrameOf(t *testing.T) {
	for line, want := range map[string]place{
		"    at Context.<anonymous> (test/calc.spec.js:7:43)":                    {"test/calc.spec.js", 7},
		"at async f (/workspace/app/test/a.js:3:5)":                              {"test/a.js", 3},
		"at /workspace/app/src/b.js:12:1":                                        {"src/b.js", 12},
		"at async /workspace/app/src/b.js:12:1":                                  {"src/b.js", 12},
		"at f (file:///workspace/app/src/b.mjs:1:2)":                             {"src/b.mjs", 1},
		"at Test.run (node:internal/test_runner/test:796:25) {":                  {},
		"at TestContext.<anonymous> (/workspace/app/test/a.js:9:8) {":            {"test/a.js", 9},
		"at Test.assert [as _assert] (/workspace/app/node_modules/x/lib.js:8:1)": {},
		"at listOnTimeout (internal/timers.js:554:17)":                           {},
		"at f (/usr/lib/node_modules/npm/x.js:1:1)":                              {},
		"at f (../other/x.js:1:1)":                                               {},
		"at f (/workspace/app/../../etc/passwd:1:1)":                             {},
		"at new Promise (<anonymous>)":                                           {},
		"at async Promise.all (index 0)":                                         {},
		" ❯ test/calc.test.js:6:50":                                              {"test/calc.test.js", 6},
		" ❯ fail src/calc.js:3:9":                                                {"src/calc.js", 3},
		" ❯ node_modules/@vitest/runner/dist/index.js:1:1":                       {},
	} {
		f, ok := frameOf(line)
		if !ok {
			t.Errorf("%q is no frame", line)
		}
		if f.place != want {
			t.Errorf("frameOf(%q) = %v, want %v", line, f.place, want)
		}
	}
}

func TestFrameOf_takesNoProse(t *testing.T) {
	for _, line := range []string{"", "at", "at least one", "❯ test/calc.test.js (9 tests)", "attention: 1:2", "at x.js:99999999999999999999"} {
		if f, ok := frameOf(line); ok {
			t.Errorf("%q is a frame at %v", line, f.place)
		}
	}
}

func TestDuration(t *testing.T) {
	for text, want := range map[string]float64{
		"196ms":           196,
		"2s":              2000,
		"3m":              180_000,
		"1h":              3_600_000,
		"1.264 s":         1264,
		"1.264 s, est. 2": 1264,
		"97 ms":           97,
		"2.97s (x 1ms)":   2970,
		"":                0,
		"soon":            0,
		"1e400s":          0,
		"-5ms":            0,
		"12":              0,
	} {
		if got := duration(text); got != want {
			t.Errorf("duration(%q) = %v, want %v", text, got, want)
		}
	}
}
