package testresults

import (
	"bytes"
	"strings"
)

// maxEmbedded is the largest report read from among a stream's other output.
const maxEmbedded = 4 << 20

// embedded finds the reports that are printed instead of written to a file.
type embedded struct {
	found byFramework
	open  layout // of the report whose text is being kept
	text  bytes.Buffer
}

// A layout is how a report stands in a stream: where it begins and ends.
type layout int

const (
	noReport layout = iota
	xmlLayout
	oneLine // Jest's and Vitest's JSON
	braces  // Mocha's JSON: from a line { to a line }
)

func (e *embedded) take(p piece) step {
	if p.first {
		e.begin(p.text)
	}
	if e.open == noReport {
		return nothing
	}
	if e.text.Len()+len(p.text) > maxEmbedded {
		e.drop()
		return nothing
	}
	e.text.WriteString(p.text)
	if !p.last {
		return nothing
	}
	e.text.WriteByte('\n')
	if !e.open.endsWith(p.text) {
		return nothing
	}
	return e.finish()
}

// begin opens a report where a line looks like one's first. What is open goes
// on, unless the line cannot be inside it.
func (e *embedded) begin(line string) {
	starts := layoutAt(line)
	inside := e.open == xmlLayout && !strings.HasPrefix(line, "<?xml")
	if starts == noReport || inside {
		return
	}
	e.drop()
	e.open = starts
}

func layoutAt(line string) layout {
	switch {
	case strings.HasPrefix(line, "<?xml"), strings.HasPrefix(line, "<testsuite"):
		return xmlLayout
	case strings.HasPrefix(line, `{"num`):
		return oneLine
	case line == "{":
		return braces
	}
	return noReport
}

// endsWith reports whether a line, or the end of one, is a report's last.
func (l layout) endsWith(line string) bool {
	switch l {
	case xmlLayout:
		return strings.HasSuffix(line, "</testsuites>") || strings.HasPrefix(line, "</testsuite>")
	case braces:
		return line == "}"
	}
	return true
}

func (e *embedded) drop() {
	e.open = noReport
	e.text = bytes.Buffer{} // not Reset: it may be large
}

// finish reads the report that is open; what is none is ignored.
func (e *embedded) finish() step {
	report, err := ParseReport("output", &e.text)
	e.drop()
	if err != nil {
		return nothing
	}
	e.found.add(report)
	return finished
}
