package selftest

import (
	"strings"
)

// sections are the probe's output by the names of its parts.
type sections map[string]string

func split(output string) sections {
	s := sections{}
	for part := range strings.SplitSeq(output, "\n=== ") {
		name, text, _ := strings.Cut(part, "\n")
		s[strings.TrimSpace(name)] = strings.TrimSpace(text)
	}
	return s
}

// field gives what stands behind a word at the start of a line, as one line.
func (s sections) field(section, word string) string {
	for line := range strings.Lines(s[section]) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), word); ok {
			return strings.Join(strings.Fields(rest), " ")
		}
	}
	return ""
}

// interfaces names the network's interfaces.
func (s sections) interfaces() []string {
	var names []string
	for line := range strings.Lines(s["interfaces"]) {
		if name, _, ok := strings.Cut(line, ":"); ok {
			names = append(names, strings.TrimSpace(name))
		}
	}
	return names
}

// mountOptions gives those of the last mount at a path.
func (s sections) mountOptions(path string) []string {
	var options []string
	for line := range strings.Lines(s["mounts"]) {
		if f := strings.Fields(line); len(f) > 3 && f[1] == path {
			options = strings.Split(f[3], ",")
		}
	}
	return options
}

// brief is a text that fits into a line.
func brief(text string) string {
	const most = 120
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	if text == "" {
		return "nothing"
	}
	return text
}
