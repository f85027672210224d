package testresults

import (
	"strings"
	"unicode/utf8"
)

const cutMark = "…"

// cut gives at most limit bytes of text, ending in a mark where some are missing.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	end := limit - len(cutMark)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + cutMark
}

// joinNames puts the names of a test's suites before its own.
func joinNames(names ...string) string {
	var joined strings.Builder
	for _, name := range names {
		if name == "" {
			continue
		}
		if joined.Len() > 0 {
			joined.WriteString(" > ")
		}
		joined.WriteString(name)
	}
	return cut(joined.String(), maxName)
}

// indentOf counts the spaces that a line begins with.
func indentOf(line string) int {
	return len(line) - len(strings.TrimLeft(line, " "))
}

// dedent takes up to n spaces off a line's beginning.
func dedent(line string, n int) string {
	return line[min(n, indentOf(line)):]
}

// tidy gives a message without blank lines around it.
func tidy(message string) string {
	return cut(strings.Trim(message, "\n"), maxMessage)
}
