package kernel

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"sandgate/sandboxclient/wire"
)

// Bounds of the results of one cell.
const (
	maxText        = 1 << 20
	maxResultBytes = 16 << 20
	maxResults     = 1000
	// maxDepth bounds JSON: every decoder on the way must follow it.
	maxDepth = 500
	// maxEncoded is what a result may take in an event. Six bytes for one is the
	// worst that encoding does.
	maxEncoded = wire.MaxFrame - 1<<20
	worstCase  = 6
)

// Codes of warnings.
const (
	codeResultTooLarge = "result_too_large"
	codeTooManyResults = "too_many_results"
)

// A showcase turns the program's results into events, within the cell's bounds.
type showcase struct {
	count int
	bytes int64
	full  bool
}

// show emits a result, cut to what is allowed, and says what was cut.
func (s *showcase) show(r *reply, emit func(wire.Event)) {
	result, cut := r.Result.bounded(maxResultBytes - s.bytes)
	s.count++
	s.bytes += result.Size()
	if s.count > maxResults || s.bytes > maxResultBytes {
		s.refuse(emit)
		return
	}
	emit(wire.Event{Type: wire.EventResult, Result: &result})
	if cut = append(names(r.Dropped), cut...); len(cut) > 0 {
		emit(warning(codeResultTooLarge, "a result is too large and lacks some or all of its "+strings.Join(cut, ", ")))
	}
}

// refuse says once that there will be no more.
func (s *showcase) refuse(emit func(wire.Event)) {
	if s.full {
		return
	}
	s.full = true
	emit(warning(codeTooManyResults, fmt.Sprintf("a cell shows no more than %d results and %d MiB", maxResults, maxResultBytes>>20)))
}

func warning(code, message string) wire.Event {
	return wire.Event{Type: wire.EventWarning, Code: code, Message: message}
}

// bounded gives the result as it may be passed on, and the names of what was
// cut from it to fit into room. The text is always there.
func (f fields) bounded(room int64) (wire.Result, []string) {
	text := f.Text
	var cut []string
	if len(text) > maxText {
		text, cut = truncate(text, maxText), []string{"text"}
	}
	result := wire.Result{
		Text: text, HTML: f.HTML, PNG: f.PNG, JPEG: f.JPEG, SVG: f.SVG,
		LaTeX: f.LaTeX, Markdown: f.Markdown, JavaScript: f.JavaScript,
	}
	if raw := json.RawMessage(f.JSON); len(raw) > 0 && shallow(raw) && json.Valid(raw) {
		result.JSON = raw
	}
	if result.Size() <= room && fitsFrame(result) {
		return result, cut
	}
	return wire.Result{Text: text}, append(cut, "other forms")
}

func fitsFrame(r wire.Result) bool {
	if r.Size()*worstCase <= maxEncoded {
		return true
	}
	encoded, err := json.Marshal(r)
	return err == nil && len(encoded) <= maxEncoded
}

// shallow says whether JSON is nested no deeper than maxDepth.
func shallow(raw []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			if depth++; depth > maxDepth {
				return false
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return true
}

// truncate cuts text to at most n bytes, between two runes.
func truncate(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// names keeps of what the program says it left out what is a name.
func names(dropped []string) []string {
	var known []string
	for _, name := range []string{"text", "html", "png", "jpeg", "svg", "json", "latex", "markdown", "javascript"} {
		if slices.Contains(dropped, name) {
			known = append(known, name)
		}
	}
	return known
}

// Bounds of an exception.
const (
	maxErrorName      = 256
	maxErrorMessage   = 64 << 10
	maxTraceback      = 256 << 10
	maxTracebackLines = 2000
)

// boundedError cuts an exception to what may be passed on.
func boundedError(e *wire.CodeError) *wire.CodeError {
	if e == nil {
		return nil
	}
	lines := e.Traceback[:min(len(e.Traceback), maxTracebackLines)]
	kept := make([]string, 0, len(lines))
	for room := maxTraceback; len(lines) > 0 && room > 0; lines = lines[1:] {
		line := truncate(lines[0], room)
		kept = append(kept, line)
		room -= len(line) + 1
	}
	return &wire.CodeError{
		Name:       truncate(e.Name, maxErrorName),
		Message:    truncate(e.Message, maxErrorMessage),
		Traceback:  kept,
		LineNumber: max(e.LineNumber, 0),
	}
}
