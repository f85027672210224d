package testresults

import (
	"fmt"
	"strings"
)

type tapKind int

const (
	tapOther tapKind = iota
	tapVersion
	tapPlan
	tapPoint
	tapComment
	tapPragma
	tapBailOut
	tapOpen  // { after a point: its subtest follows
	tapClose // }
)

// tapIndent is how much further in a subtest's lines stand.
const tapIndent = 4

// A tapLine is one line of TAP.
type tapLine struct {
	kind  tapKind
	depth int    // of the subtest that it belongs to; the stream's own is 0
	text  string // a point's name, a comment, a pragma, why the run was abandoned
	n     int    // a plan's last number, or a point's; 0: none

	outcome    outcome
	opens      bool // the point ends in a brace
	durationMS float64
}

// readTAP tells what a line is in TAP.
func readTAP(line string) tapLine {
	indent := indentOf(line)
	text := strings.TrimRight(line[indent:], " \t")
	if indent%tapIndent != 0 {
		return tapLine{kind: tapOther, text: text}
	}
	l := readTAPText(text)
	l.depth = indent / tapIndent
	return l
}

func readTAPText(text string) tapLine {
	if comment, ok := strings.CutPrefix(text, "#"); ok {
		return tapLine{kind: tapComment, text: strings.TrimSpace(comment)}
	}
	if n, ok := strings.CutPrefix(text, "1.."); ok {
		return readPlan(n)
	}
	if point, ok := readPoint(text); ok {
		return point
	}
	if len(text) >= len(bailOut) && strings.EqualFold(text[:len(bailOut)], bailOut) {
		return tapLine{kind: tapBailOut, text: strings.TrimSpace(text[len(bailOut):])}
	}
	if version, ok := strings.CutPrefix(text, "TAP version "); ok {
		if _, ok := number(version); ok {
			return tapLine{kind: tapVersion}
		}
	}
	if pragma, ok := strings.CutPrefix(text, "pragma "); ok {
		return tapLine{kind: tapPragma, text: pragma}
	}
	switch text {
	case "{":
		return tapLine{kind: tapOpen}
	case "}":
		return tapLine{kind: tapClose}
	}
	return tapLine{kind: tapOther, text: text}
}

const bailOut = "Bail out!"

// readPlan reads what follows "1..": a number, and perhaps why there are no tests.
func readPlan(text string) tapLine {
	last, _, _ := strings.Cut(text, "#")
	n, ok := number(strings.TrimSpace(last))
	if !ok {
		return tapLine{kind: tapOther, text: text}
	}
	return tapLine{kind: tapPlan, n: n}
}

// readPoint reads "not ok 12 - name # TODO why".
func readPoint(text string) (tapLine, bool) {
	l := tapLine{kind: tapPoint}
	rest, isNot := strings.CutPrefix(text, "not ")
	if isNot {
		l.outcome = failed
	}
	rest, ok := strings.CutPrefix(rest, "ok")
	if !ok || rest != "" && rest[0] != ' ' {
		return tapLine{}, false
	}
	rest = strings.TrimLeft(rest, " ")
	digits, after, _ := strings.Cut(rest, " ")
	if n, ok := number(digits); ok {
		l.n, rest = n, strings.TrimLeft(after, " ")
	}
	rest = strings.TrimPrefix(strings.TrimPrefix(rest, "-"), " ")
	rest, l.opens = strings.CutSuffix(" "+rest, " {")
	rest, l.durationMS = cutTime(rest)
	l.describe(rest)
	return l, true
}

// cutTime takes " # time=1.5ms" off the end of a description.
func cutTime(text string) (string, float64) {
	name, took, ok := cutLast(text, " # time=")
	if !ok || strings.Contains(took, " ") {
		return text, 0
	}
	return name, duration(took)
}

func cutLast(text, separator string) (before, after string, ok bool) {
	i := strings.LastIndex(text, separator)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(separator):], true
}

// describe takes a description apart into the name and the directive, which
// follows the first hash that is neither escaped nor just a hash.
func (l *tapLine) describe(text string) {
	for i := range len(text) {
		if text[i] != '#' || i == 0 || text[i-1] != ' ' {
			continue
		}
		if o, ok := directive(text[i+1:]); ok {
			l.outcome = o
			text = text[:i]
			break
		}
	}
	l.text = unescapeTAP(strings.TrimSpace(text))
}

// directive reads "SKIP why", "skipped: why" or "TODO why".
func directive(text string) (outcome, bool) {
	word, _, _ := strings.Cut(strings.ToLower(strings.TrimLeft(text, " ")), " ")
	switch {
	case strings.HasPrefix(word, "skip"):
		return skipped, true
	case strings.TrimRight(word, ":") == "todo":
		return todo, true
	}
	return 0, false
}

var tapEscapes = strings.NewReplacer(`\\`, `\`, `\#`, `#`)

func unescapeTAP(text string) string {
	return tapEscapes.Replace(text)
}

// name is a point's name, or its number.
func (l *tapLine) name() string {
	if l.text == "" && l.n > 0 {
		return fmt.Sprint("test ", l.n)
	}
	return cut(l.text, maxName)
}
