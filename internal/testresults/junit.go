package testresults

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

const (
	// anyJUnit is what a framework is called that is known by its report only.
	anyJUnit = "junit"
	// maxElements is how deep a report's elements may be inside each other.
	maxElements = 64
)

var (
	errTooDeep = errors.New("elements are nested too deeply")
	errNoJUnit = errors.New("XML, but not JUnit's")
)

// junit reads JUnit XML element by element. The decoder knows no entities but
// XML's own five, so that none expands.
type junit struct {
	sum      Results
	elements []string
	suites   []junitSuite // those that are open in each other
	test     *junitTest   // the one that is open; those inside it are not looked at
	trailer  trailer      // node:test puts its totals into comments
	node     *Results
}

type junitSuite struct {
	name, file string
	timed      bool // it told its time, or one around it did
}

func parseJUnit(r io.Reader) (*Results, error) {
	d := xml.NewDecoder(r)
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // it is UTF-8 by now
	j := &junit{sum: Results{Framework: anyJUnit}}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return j.result(), nil
		}
		if err == nil {
			err = j.take(token)
		}
		if err != nil {
			return nil, err
		}
	}
}

func (j *junit) take(token xml.Token) error {
	switch t := token.(type) {
	case xml.StartElement:
		return j.begin(t)
	case xml.EndElement:
		j.end()
	case xml.CharData:
		if j.test != nil && j.test.telling > 0 {
			j.test.say(string(t))
		}
	case xml.Comment:
		if totals, ok := j.trailer.take(strings.TrimSpace(string(t))); ok {
			j.node = totals
		}
	}
	return nil
}

func (j *junit) begin(e xml.StartElement) error {
	name := e.Name.Local
	if len(j.elements) == 0 && name != "testsuites" && name != "testsuite" {
		return errNoJUnit
	}
	if len(j.elements) == maxElements {
		return errTooDeep
	}
	j.elements = append(j.elements, name)
	switch {
	case name == "testsuites" || name == "testsuite":
		j.beginSuite(e)
	case j.test == nil && name == "testcase":
		j.beginTest(e)
	case j.test != nil && len(j.elements) == j.test.depth+1:
		j.beginVerdict(e)
	}
	return nil
}

func (j *junit) beginSuite(e xml.StartElement) {
	s := junitSuite{name: attribute(e, "name"), file: attribute(e, "file"), timed: j.took(e)}
	if len(j.suites) == 0 {
		j.framework(s.name)
		s.name = ""
	}
	if s.file == "" && len(j.suites) > 0 {
		s.file = j.suites[len(j.suites)-1].file
	}
	j.suites = append(j.suites, s)
}

// framework recognises whose report it is by what it is called.
func (j *junit) framework(title string) {
	switch title {
	case "jest tests":
		j.sum.Framework = "jest"
	case "vitest tests":
		j.sum.Framework = "vitest"
	case "Mocha Tests":
		j.sum.Framework = "mocha"
	}
}

// took counts an element's time, unless one around it told its own, and
// reports whether the time of what is inside is known with that.
func (j *junit) took(e xml.StartElement) bool {
	if len(j.suites) > 0 && j.suites[len(j.suites)-1].timed {
		return true
	}
	seconds := attribute(e, "time")
	j.sum.DurationMS += 1000 * milliseconds(strings.ReplaceAll(seconds, ",", ""))
	return seconds != ""
}

func (j *junit) end() {
	depth := len(j.elements)
	name := j.elements[depth-1]
	j.elements = j.elements[:depth-1]
	switch {
	case name == "testsuites" || name == "testsuite":
		j.suites = j.suites[:len(j.suites)-1]
	case j.test != nil && j.test.depth == depth:
		j.endTest()
	case j.test != nil && j.test.telling == depth:
		j.test.telling = 0
	}
}

func (j *junit) result() *Results {
	if j.node != nil {
		j.node.Framework, j.node.Failures = nodeTest, j.sum.Failures
		return j.node
	}
	return &j.sum
}

// attribute gives one of an element, or nothing.
func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
