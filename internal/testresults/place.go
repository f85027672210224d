package testresults

import (
	"path"
	"strconv"
	"strings"
)

// appDir is where a run's repository is.
const appDir = "/workspace/app/"

// A place is a line of a file of the repository.
type place struct {
	file string // relative to appDir; empty: not known
	line int
}

// A frame is one line of a stack trace.
type frame struct{ place }

// frameOf reads a line of a stack trace as V8 prints it ("at f (a.js:1:2)") or
// Vitest does ("❯ f a.js:1:2").
func frameOf(line string) (frame, bool) {
	line = strings.TrimSpace(line)
	if at, ok := strings.CutPrefix(line, "at "); ok {
		return v8Frame(at)
	}
	if at, ok := strings.CutPrefix(line, "❯ "); ok {
		return located(at[strings.LastIndexByte(at, ' ')+1:])
	}
	return frame{}, false
}

// v8Frame reads what follows "at ". A frame without a file is one as well.
func v8Frame(at string) (frame, bool) {
	at = strings.TrimSuffix(at, " {") // Node prints an error's fields behind its stack
	if inside, ok := strings.CutSuffix(at, ")"); ok {
		inside = inside[strings.LastIndexByte(inside, '(')+1:]
		if inside == "<anonymous>" || inside == "native" || strings.HasPrefix(inside, "index ") {
			return frame{}, true
		}
		return located(inside)
	}
	return located(strings.TrimPrefix(at, "async "))
}

// located reads "file:line" or "file:line:column".
func located(at string) (frame, bool) {
	rest, last, ok := cutNumber(at)
	if !ok {
		return frame{}, false
	}
	if file, line, ok := cutNumber(rest); ok {
		return frame{ownPlace(file, line)}, true // last is the column
	}
	return frame{ownPlace(rest, last)}, true
}

// placeOf is the place that a text is, if it is one of the repository.
func placeOf(at string) place {
	f, _ := located(at)
	return f.place
}

// cutNumber takes ":123" off the end of a text.
func cutNumber(text string) (string, int, bool) {
	colon := strings.LastIndexByte(text, ':')
	if colon < 1 {
		return "", 0, false
	}
	n, ok := number(text[colon+1:])
	return text[:colon], n, ok
}

// ownPlace gives the place of a file that belongs to the repository; none of a
// dependency's, of Node's own, or of what is elsewhere.
func ownPlace(file string, line int) place {
	file = strings.TrimPrefix(file, "file://")
	file = strings.TrimPrefix(file, appDir)
	switch {
	case file == "", path.IsAbs(file), len(file) > maxName,
		strings.HasPrefix(file, "node:"), strings.HasPrefix(file, "internal/"):
		return place{}
	}
	file = path.Clean(file)
	if strings.HasPrefix(file, "../") || strings.Contains("/"+file, "/node_modules/") {
		return place{}
	}
	return place{file: file, line: line}
}

// maxDigits keeps sums of what is read far from overflowing.
const maxDigits = 9

// number reads a count, of digits only.
func number(text string) (int, bool) {
	if text == "" || len(text) > maxDigits || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}
