package testresults

import (
	"strconv"
	"strings"
)

// maxQuoted is how many lines a quoted text may have before its end is given up.
const maxQuoted = 1000

// diagnostics reads the YAML block that may follow a test point, line by line,
// and passes on what tells of a failure. It is not all of YAML: a reader that
// never fails, also where a runner's YAML would not, is worth more here.
type diagnostics struct {
	about  *capture // nil: the test did not fail
	indent int      // of the whole block
	ended  bool

	outer, inner string // the keys that are being read
	outerIndent  int    // of the outermost keys; -1: none was read
	block        block
	quoted       int // lines of a quoted text whose end was not seen

	told       bool // there was a message
	compared   []string
	file       string
	durationMS float64
}

// A block is a text of several lines, after "key: |".
type block struct {
	open      bool
	keyIndent int
	indent    int // -1: its first line was not read
}

func newDiagnostics(about *capture, indent int) *diagnostics {
	return &diagnostics{about: about, indent: indent, outerIndent: -1}
}

// take reads a line, and reports whether it was part of the block.
func (y *diagnostics) take(text string) bool {
	indent := indentOf(text)
	trimmed := strings.TrimSpace(text)
	if trimmed == "..." && indent == y.indent {
		y.end()
		return true
	}
	if y.quoted > 0 {
		y.continueQuoted(text)
		return true
	}
	if indent < y.indent && trimmed != "" {
		y.end() // it was not ended properly
		return false
	}
	y.line(text[min(y.indent, indent):])
	return true
}

// end tells what was compared where nothing else was said.
func (y *diagnostics) end() {
	y.ended = true
	if y.about == nil || y.told {
		return
	}
	for _, line := range y.compared {
		y.about.say(line)
	}
}

func (y *diagnostics) line(text string) {
	indent := indentOf(text)
	if y.block.open && (strings.TrimSpace(text) == "" || indent > y.block.keyIndent) {
		y.inBlock(text, indent)
		return
	}
	y.block.open = false
	key, value, ok := strings.Cut(strings.TrimSpace(text), ":")
	if !ok || strings.ContainsAny(key, " '\"") {
		return
	}
	if y.outerIndent < 0 {
		y.outerIndent = indent
	}
	if indent <= y.outerIndent {
		y.outer, y.inner = key, ""
	} else {
		y.inner = key
	}
	y.begin(strings.TrimSpace(value), indent)
}

func (y *diagnostics) inBlock(text string, indent int) {
	if y.block.indent < 0 && strings.TrimSpace(text) != "" {
		y.block.indent = indent
	}
	y.value(dedent(text, max(y.block.indent, 0)))
}

// begin reads what stands behind a key.
func (y *diagnostics) begin(value string, indent int) {
	switch {
	case value == "":
	case value[0] == '|' || value[0] == '>':
		y.block = block{open: true, keyIndent: indent, indent: -1}
	case value[0] == '"' && !closes(value[1:]):
		y.quoted = 1
		y.value(value[1:])
	default:
		y.value(unquote(value))
	}
}

// continueQuoted reads a further line of a text in double quotes.
func (y *diagnostics) continueQuoted(text string) {
	y.quoted++
	if closes(text) || y.quoted > maxQuoted {
		y.quoted = 0
		text = text[:len(text)-min(1, len(text))]
	}
	y.value(strings.ReplaceAll(text, `\"`, `"`))
}

// closes reports whether a text in double quotes ends with this line.
func closes(text string) bool {
	before, ok := strings.CutSuffix(text, `"`)
	escapes := len(before) - len(strings.TrimRight(before, `\`))
	return ok && escapes%2 == 0
}

func unquote(value string) string {
	if text, err := strconv.Unquote(value); err == nil && value[0] == '"' {
		return text
	}
	if inside, ok := strings.CutPrefix(value, "'"); ok {
		return strings.ReplaceAll(strings.TrimSuffix(inside, "'"), "''", "'")
	}
	return value
}

// value passes on a line of what the current keys say.
func (y *diagnostics) value(text string) {
	key := y.outer
	if y.inner != "" {
		key += "." + y.inner
	}
	if key == "duration_ms" {
		y.durationMS = milliseconds(text)
	}
	if y.about != nil {
		y.tell(key, text)
	}
}

func (y *diagnostics) tell(key, text string) {
	switch key {
	case "error", "error.message", "message":
		y.told = true
		y.about.say(text)
	case "stack", "error.stack", "at":
		y.stack(text)
	case "location":
		y.about.told = placeOf(text)
	case "at.file", "at.fileName":
		y.file = text
	case "at.line", "at.lineNumber":
		n, _ := number(text)
		y.about.at(ownPlace(y.file, n))
	case "operator", "expected", "wanted", "actual", "found":
		y.compare(key, text)
	}
}

// stack reads a line of a stack, which may begin with "at" or not.
func (y *diagnostics) stack(text string) {
	if f, ok := v8Frame(strings.TrimPrefix(strings.TrimSpace(text), "at ")); ok {
		y.about.at(f.place)
	}
}

func (y *diagnostics) compare(key, text string) {
	if len(y.compared) < 20 {
		y.compared = append(y.compared, cut(key+": "+text, maxName))
	}
}
