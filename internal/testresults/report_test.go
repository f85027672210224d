package testresults

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const laughs = `<?xml version="1.0"?>
<!DOCTYPE lolz [<!ENTITY lol "lol"><!ENTITY lol2 "&lol;&lol;&lol;&lol;">]>
<testsuite name="&lol2;"><testcase name="a"/></testsuite>`

func parse(t *testing.T, text string) *Results {
	t.Helper()
	report, err := ParseReport("report", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestParseReport_junit(t *testing.T) {
	got := parse(t, "\ufeff"+`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="all" tests="99" time="12.5">
  <properties><property name="x" value="y"/></properties>
  <testsuite name="outer" file="test/outer.js" time="3">
    <properties><property name="x"/></properties>
    <testsuite name="inner" time="1">
      <testcase classname="Calculator" name="adds" time="0.5"/>
      <testcase classname="Calculator" name="divides" file="test/calc.js" line="12">
        <failure message="expected 1 &amp; 2&#10;got 3" type="Error"><![CDATA[Error: ignored
    at Object.<anonymous> (/workspace/app/node_modules/x/y.js:1:1)
    at Object.<anonymous> (/workspace/app/src/calc.js:4:9)
]]></failure>
        <system-out>not ok 1</system-out>
      </testcase>
      <testcase classname="Calculator" name="breaks"><error>
TypeError: no
  more
    at f (node:internal/x:1:1)
      </error></testcase>
      <testcase classname="Calculator" name="waits"><skipped/></testcase>
      <testcase classname="Calculator" name="plans"><skipped type="todo"/><failure>not yet</failure></testcase>
    </testsuite>
  </testsuite>
  <testsuite name="flaky"><testcase name="in the end"><flakyFailure message="once"/><system-err/></testcase></testsuite>
</testsuites>
<!-- tests 5 -->`)
	want := &Results{
		Framework: "junit", Passed: 2, Failed: 2, Skipped: 1, Todo: 1, Total: 6, DurationMS: 12_500,
		Failures: []Failure{
			{Name: "Calculator > divides", File: "src/calc.js", Line: 4, Message: "expected 1 & 2\ngot 3"},
			{Name: "Calculator > breaks", File: "test/outer.js", Message: "TypeError: no\n  more"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}

func TestParseReport_junitTimes(t *testing.T) {
	for text, want := range map[string]float64{
		`<testsuites time="2"><testsuite time="9"><testcase name="a" time="9"/></testsuite></testsuites>`:             2000,
		`<testsuites><testsuite time="1"><testcase time="9"/></testsuite><testsuite time="1,000.5"/></testsuites>`:    1_001_500,
		`<testsuite><testcase name="a" time="0.25"/><testsuite time="1"><testcase time="5"/></testsuite></testsuite>`: 1250,
		`<testsuite time="NaN"><testcase name="a" time="-1"/></testsuite>`:                                            0,
		`<testsuite><testcase name="a" time="1e400"/><testcase name="b" time="soon"/></testsuite>`:                    0,
		"<testsuite><testcase name=\"\x1b[31mred\" time=\"1\"/></testsuite>":                                          1000,
		"<?xml version='1.0' encoding='ISO-8859-1'?><testsuite><testcase name=\"caf\xe9\" time=\"1\"/></testsuite>":   1000,
		`<!DOCTYPE testsuite><testsuite xmlns="http://junit.org"><testcase name="a" time="1"></testcase></testsuite>`: 1000,
	} {
		if got := parse(t, text).DurationMS; got != want {
			t.Errorf("%s took %v, want %v", text, got, want)
		}
	}
}

func TestParseReport_refuses(t *testing.T) {
	deep := strings.Repeat("<testsuite>", maxElements+1)
	for name, text := range map[string]string{
		"nothing":             "",
		"blanks":              " \n\t ",
		"prose":               "5 passing",
		"other XML":           "<html><body/></html>",
		"cut off XML":         "<testsuite><testcase name='a'>",
		"XML that crosses":    "<testsuite><testcase></testsuite></testcase>",
		"entities":            laughs,
		"deep XML":            deep,
		"other JSON":          `{"name":"app","version":"1.0.0","failures":[]}`,
		"an array":            `[1,2]`,
		"cut off JSON":        `{"numTotalTests":1,"testResults":[{"assertionResults":[{"status":"passed"`,
		"deep JSON":           `{"stats":{"passes":` + strings.Repeat("[", 1000),
		"deep inside nothing": `{"x":` + strings.Repeat(`{"x":`, 1000),
		"XML in JSON":         `{<testsuite/>}`,
	} {
		if report, err := ParseReport("report", strings.NewReader(text)); err == nil {
			t.Errorf("%s: read as %+v", name, report)
		} else if !strings.HasPrefix(err.Error(), "report: ") {
			t.Errorf("%s: %v does not say which", name, err)
		}
	}
}

// endless gives the same text again and again.
type endless struct {
	text string
	at   int
}

func (e *endless) Read(b []byte) (int, error) {
	n := copy(b, e.text[e.at:])
	e.at = (e.at + n) % len(e.text)
	return n, nil
}

func TestParseReport_readsNoMoreThanItMay(t *testing.T) {
	for start, more := range map[string][]string{
		"<testsuite>":        {" ", "x", "<testcase/>", "<!-- -->", "<a b='c'></a>"},
		`{"testResults":[{}`: {",{}", ",[]", `,{"name":"a"}`},
		`{"x":"`:             {"x"},
	} {
		for _, text := range more {
			r := io.MultiReader(strings.NewReader(start), &endless{text: strings.Repeat(text, 4096)})
			if _, err := parseReport(&limited{r: r, left: 1 << 20}); !errors.Is(err, errTooLarge) {
				t.Errorf("%s%s without end: %v, want %v", start, text, err, errTooLarge)
			}
		}
	}
}

func TestParseReport_passesErrorsOn(t *testing.T) {
	broken := errors.New("broken pipe")
	for _, start := range []string{"", "<testsuite>", `{"testResults":[`} {
		r := io.MultiReader(strings.NewReader(start), errorReader{broken})
		if _, err := ParseReport("r", r); !errors.Is(err, broken) {
			t.Errorf("after %q: %v, want %v", start, err, broken)
		}
	}
}

type errorReader struct{ err error }

func (r errorReader) Read([]byte) (int, error) { return 0, r.err }

// What is infinite cannot be told in JSON.
func TestParseReport_believesNoEndlessTimes(t *testing.T) {
	for _, text := range []string{
		`{"startTime":-1e308,"testResults":[{"endTime":1e308}]}`,
		`{"stats":{"duration":1e308},"failures":[]}`,
	} {
		if got := parse(t, text).DurationMS; got > maxDuration {
			t.Errorf("%s took %g", text, got)
		}
	}
}
