package testresults

import (
	"encoding/xml"
	"path"
	"strings"
)

// A junitTest is one test case.
type junitTest struct {
	capture
	depth   int // of its element
	telling int // the depth of the element in it that tells why it failed; 0: none is open
	outcome outcome
	worded  bool // an attribute had the message
}

func (j *junit) beginTest(e xml.StartElement) {
	j.took(e)
	class, file := attribute(e, "classname"), attribute(e, "file")
	if file == "" && len(j.suites) > 0 {
		file = j.suites[len(j.suites)-1].file
	}
	if file == "" && isFile(class) {
		file = class
	}
	line, _ := number(attribute(e, "line"))
	j.test = &junitTest{depth: len(j.elements), capture: capture{
		name: j.nameOf(class, attribute(e, "name")),
		told: ownPlace(file, line),
	}}
}

// nameOf puts before a test's name what it is in: its class, unless that is a
// file or the name has it already, or else, as with node:test, the suites.
func (j *junit) nameOf(class, name string) string {
	if class == "test" || class == "suite" {
		return joinNames(append(j.suiteNames(), name)...)
	}
	if isFile(class) || strings.Contains(name, class) {
		return cut(name, maxName)
	}
	return joinNames(class, name)
}

func (j *junit) suiteNames() []string {
	var names []string
	for _, s := range j.suites {
		names = append(names, s.name)
	}
	return names
}

// isFile reports whether a class is a file's name: some reporters have no other.
func isFile(class string) bool {
	switch path.Ext(class) {
	case ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts":
		return true
	}
	return false
}

// beginVerdict reads the elements that say that a test did not pass.
func (j *junit) beginVerdict(e xml.StartElement) {
	switch e.Name.Local {
	case "failure", "error":
		j.test.telling = len(j.elements)
		j.test.fails(attribute(e, "message"))
	case "skipped":
		j.test.skips(attribute(e, "type"))
	}
}

func (t *junitTest) fails(message string) {
	if t.outcome != todo {
		t.outcome = failed
	}
	if message != "" && !t.worded {
		t.worded = true
		t.message.Reset()
		t.message.WriteString(cut(message, maxMessage))
	}
}

// skips takes node:test's word that a test was to do, whether it failed or not.
func (t *junitTest) skips(kind string) {
	switch {
	case kind == "todo":
		t.outcome = todo
	case t.outcome == passed:
		t.outcome = skipped
	}
}

// say takes text of a failure: its message, unless an attribute had that, and its stack.
func (t *junitTest) say(text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if f, ok := frameOf(line); ok || t.worded {
			t.inStack = true
			t.at(f.place)
			continue
		}
		t.add(line)
	}
}

func (j *junit) endTest() {
	j.sum.count(j.test.outcome, 1)
	if j.test.outcome == failed {
		j.sum.fail(j.test.failure())
	}
	j.test = nil
}
