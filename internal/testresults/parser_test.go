package testresults

import (
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	npmHeader  = "\n> app@1.0.0 test\n> mocha\n\n"
	mochaRun   = "\n  suite\n    ✔ a\n\n\n  1 passing (5ms)\n\n"
	jestRun    = "PASS test/a.test.js\n\nTest Suites: 1 passed, 1 total\nTests:       2 passed, 2 total\nSnapshots:   0 total\nTime:        1 s\n"
	vitestRun  = " RUN  v4.1.12 /workspace/app\n\n Test Files  1 passed (1)\n      Tests  4 passed (4)\n   Duration  1s (x)\n"
	junitRun   = "<testsuites>\n<testsuite><testcase name=\"a\"/></testsuite>\n</testsuites>\n"
	jestReport = `{"numRuntimeErrorTestSuites":0,"testResults":[{"assertionResults":[{"status":"passed"}]}]}` + "\n"
)

func results(framework string, passed int, durationMS float64) *Results {
	return &Results{Framework: framework, Passed: passed, Total: passed, DurationMS: durationMS, Failures: []Failure{}}
}

func TestParser_addsUp(t *testing.T) {
	for name, test := range map[string]struct {
		stdout, stderr string
		want           *Results
	}{
		"packages of one framework":     {npmHeader + mochaRun + npmHeader + mochaRun, "", results("mocha", 2, 10)},
		"frameworks on two streams":     {npmHeader + mochaRun, jestRun, results("jest+mocha", 3, 1005)},
		"a report instead of a summary": {jestReport, jestRun, results("jest", 1, 0)},
		"two reports":                   {jestReport + jestReport, "", results("jest", 2, 0)},
		"a report that is nobody's":     {junitRun, "", results("junit", 1, 0)},
		"nobody's beside a summary":     {junitRun + mochaRun, "", results("mocha", 1, 5)},
		"no tests":                      {" Test Files  no tests\n      Tests  no tests\n   Duration  2ms\n", "", results("vitest", 0, 2)},
		"nothing":                       {"hello\n5 passing\nTests: 1 passed\n", "passing (5ms)\n", nil},
	} {
		p := NewParser()
		p.Write("stdout", []byte(test.stdout))
		p.Write("stderr", []byte(test.stderr))
		p.Close()
		got, _ := p.Summary()
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestParser_reportsFromFilesReplaceWhatWasPrinted(t *testing.T) {
	p := NewParser()
	p.Write("stdout", []byte(mochaRun))
	p.Write("stderr", []byte(jestRun))
	p.AddReport(nil)
	p.AddReport(results("jest", 7, 0))
	p.AddReport(results("jest", 6, 0))
	p.AddReport(results("junit", 9, 0))
	got, _ := p.Summary()
	if diff := cmp.Diff(results("jest+mocha", 8, 5), got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

func TestParser_doneUntilFurtherTestsBegin(t *testing.T) {
	p := NewParser()
	for _, step := range []struct {
		text string
		want bool
	}{
		{npmHeader, false},
		{"  1 pass", false},
		{"ing (5ms)\n", true},
		{"\n  1 failing\n\n  1) a\n       b:\n", true},
		{npmHeader, false},
		{jestRun, true},
		{"\n RUN  v4.1.12 /workspace/app\n", false},
		{vitestRun, true},
		{"TAP version 14\n1..2\nok 1\n", false},
		{"ok 2\n", true},
		{"# a last word\nnpm notice\n", true},
		{"TAP version 14\n", false},
		{"Bail out!\n", true},
	} {
		p.Write("stdout", []byte(step.text))
		if p.Done() != step.want {
			t.Errorf("after %q Done() = %t", step.text, p.Done())
		}
	}
}

func TestParser_listsAFailureOnce(t *testing.T) {
	const failing = "FAIL test/a.test.js\n  ● adds\n\n    wrong\n\n      at Object.<anonymous> (test/a.test.js:1:2)\n\n"
	p := NewParser()
	p.Write("stderr", []byte(failing+"Summary of all failing tests\n"+failing+
		"Test Suites: 1 failed, 1 total\nTests:       1 failed, 1 total\nTime:        1 s\n"))
	got, _ := p.Summary()
	want := []Failure{{Name: "adds", File: "test/a.test.js", Line: 1, Message: "wrong"}}
	if diff := cmp.Diff(want, got.Failures); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
}

func TestResults_disagreeWithAnExitCode(t *testing.T) {
	var none *Results
	failure := []Failure{{Name: "a suite"}}
	for _, test := range []struct {
		results  *Results
		exitCode int
		want     bool
	}{
		{none, 0, false},
		{none, 1, false},
		{&Results{Passed: 1}, 0, false},
		{&Results{Passed: 1}, 1, true},
		{&Results{Failed: 1}, 0, true},
		{&Results{Failed: 1}, 1, false},
		{&Results{Failures: failure}, 0, true},
		{&Results{Failures: failure}, 137, false},
		{&Results{}, 0, false},
	} {
		if got := test.results.Disagrees(test.exitCode); got != test.want {
			t.Errorf("%+v.Disagrees(%d) = %t", test.results, test.exitCode, got)
		}
	}
}

// What a program prints without end fills no memory.
func TestParser_isBounded(t *testing.T) {
	const fed, most = 1 << 20, 512 << 10
	for name, test := range map[string]struct{ start, more string }{
		"one line":              {"", "x"},
		"one sequence":          {"\x1b]0;", "x"},
		"one bar":               {"", "50%\r"},
		"TAP points":            {"TAP version 14\n", "not ok - a failure with a name\n  ---\n  message: why\n  ...\n"},
		"TAP streams":           {"", "TAP version 14\n1..1\nnot ok 1 - a failure\n"},
		"a TAP subtest":         {"TAP version 14\n", "    not ok - a failure\n"},
		"TAP braces":            {"TAP version 14\n", "ok 1 - a {\n    ok 1 - b {\n        ok 1 - c {\n"},
		"TAP names":             {"TAP version 14\n", "    # Subtest: name\n        not ok - a\n    not ok - b\n"},
		"TAP diagnostics":       {"TAP version 14\nnot ok 1\n  ---\n  error: |\n", "    a line\n"},
		"a quoted text":         {"TAP version 14\nnot ok 1\n  ---\n  error: \"\n", "a line\n"},
		"what was compared":     {"TAP version 14\nnot ok 1\n  ---\n  expected: |\n", "    a line\n"},
		"strict TAP":            {"TAP version 14\npragma +strict\n", "hello\n"},
		"a message in TAP":      {"TAP version 14\nnot ok 1\n", "  a line\n"},
		"Mocha's titles":        {"  1 passing (1s)\n  9 failing\n\n", "  1) a\n       b\n         c\n"},
		"a message of Mocha's":  {"  1 passing (1s)\n  1 failing\n\n  1) a:\n", "a line\n"},
		"Jest's failures":       {"FAIL test/a.js\n", "  ● a › b\n\n    message\n"},
		"a message of Jest's":   {"FAIL test/a.js\n  ● a\n", "    message\n"},
		"Vitest's failures":     {"", " FAIL  test/a.js > b\n"},
		"a message of Vitest's": {" FAIL  test/a.js > b\n", "a line\n"},
		"a message of Node's":   {"✖ failing tests:\n\ntest at a.js:1:1\n✖ a (1ms)\n", "  a line\n"},
		"failures of Node's":    {"✖ failing tests:\n", "\ntest at a.js:1:1\n✖ a (1ms)\n  b\n"},
		"many reports":          {"", junitRun + "{\n\"stats\": {}, \"failures\": [{}]\n}\n"},
		"many summaries":        {"", mochaRun + jestRun + vitestRun},
		"not even text":         {"", "\x9d\xff\xfe\xe2\x80"},
	} {
		p := NewParser()
		p.Write("stdout", []byte(test.start))
		chunk := []byte(strings.Repeat(test.more, 64<<10/len(test.more)))
		before := heap()
		for range fed / len(chunk) {
			p.Write("stdout", chunk)
		}
		if grown := heap() - before; grown > most {
			t.Errorf("%s: %d KiB are kept", name, grown>>10)
		}
		p.Close()
		if r, ok := p.Summary(); ok {
			checkBounds(t, r)
		}
	}
}

func TestEmbedded_isBounded(t *testing.T) {
	for start, more := range map[string]string{
		"<testsuites>\n": "<testcase name='a'>\n",
		`{"num":[`:       "1,",
		"{\n":            "\"a\": 1,\n",
	} {
		p := NewParser()
		p.Write("stdout", []byte(start))
		chunk := []byte(strings.Repeat(more, 64<<10/len(more)))
		for range maxEmbedded/len(chunk) - 1 {
			p.Write("stdout", chunk)
		}
		if kept := p.stdout.reports.text.Len(); kept == 0 || kept > maxEmbedded {
			t.Errorf("%q: %d bytes are kept of a report that is not too large yet", start, kept)
		}
		for range 3 {
			p.Write("stdout", chunk)
		}
		if kept := p.stdout.reports.text.Len(); kept > 0 {
			t.Errorf("%q: %d bytes are kept of one that is", start, kept)
		}
	}
}

func heap() int {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int(stats.HeapAlloc)
}
