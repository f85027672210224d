package testresults

import "strings"

// vitest reads what Vitest's reporters for people have in common: a block for
// each failure, begun by one or more lines "FAIL file > suite > test" and ended
// by a rule, and the totals at the end.
type vitest struct {
	sum   tally
	files bool // "Test Files" was read: the totals follow
	names []vitestName
	open  *capture
}

// A vitestName says which test failed.
type vitestName struct {
	name string
	file place
}

func newVitest() *vitest {
	return &vitest{sum: newTally("vitest")}
}

func (v *vitest) line(text string) step {
	trimmed := strings.TrimSpace(text)
	switch {
	case strings.HasPrefix(trimmed, "RUN  v"), strings.HasPrefix(trimmed, "DEV  v"):
		return began
	case strings.HasPrefix(trimmed, "FAIL  "):
		v.failed(trimmed[len("FAIL  "):])
	case strings.HasPrefix(trimmed, "⎯"):
		v.close()
		v.rule(strings.Trim(trimmed, "⎯ "))
	case strings.HasPrefix(trimmed, "Test Files  "):
		v.close()
		v.files = true
	case v.files:
		return v.totals(trimmed)
	case v.open != nil:
		v.open.add(text)
	}
	return nothing
}

// failed reads "|project| file > suite > test", or "file [ file ]" of a file
// that could not be loaded. Tests that failed alike share a block.
func (v *vitest) failed(text string) {
	if v.open != nil && v.open.message.Len() > 0 {
		v.close()
	}
	text = withoutProject(text)
	file, name, isTest := strings.Cut(text, " > ")
	if !isTest {
		file, _, _ = strings.Cut(text, " [ ")
		name = file
		if file == text {
			return // another framework's
		}
	}
	v.open = &capture{}
	if len(v.names) < maxFailures {
		v.names = append(v.names, vitestName{cut(name, maxName), ownPlace(file, 0)})
	}
}

// withoutProject takes "|web| " off.
func withoutProject(text string) string {
	if inside, ok := strings.CutPrefix(text, "|"); ok {
		if _, rest, ok := strings.Cut(inside, "| "); ok {
			return rest
		}
	}
	return text
}

// rule reads the title in a rule between blocks. Errors that no test caught
// have it instead of a name.
func (v *vitest) rule(title string) {
	switch title {
	case "Unhandled Rejection", "Uncaught Exception", "Unhandled Error":
		v.open = &capture{}
		v.names = []vitestName{{name: title}}
	}
}

// totals reads "Tests  5 failed | 2 passed (7)" and "Duration  2.97s (…)".
func (v *vitest) totals(text string) step {
	key, value, _ := strings.Cut(text, "  ")
	switch key {
	case "Tests":
		v.tests(strings.TrimSpace(value))
	case "Duration":
		v.sum.DurationMS += duration(strings.TrimSpace(value))
		v.files = false
		return finished
	}
	return nothing
}

func (v *vitest) tests(text string) {
	counts, _, _ := strings.Cut(text, " (")
	if text == "no tests" {
		counts = "0 passed"
	}
	if sum, ok := countWords(strings.Split(counts, " | ")); ok {
		v.sum.add(sum)
		v.sum.totalled = true
	}
}

// close lists the failures of a block.
func (v *vitest) close() {
	if v.open != nil {
		for _, failure := range v.failures() {
			v.sum.fail(failure)
		}
	}
	v.open, v.names = nil, nil
}

func (v *vitest) failures() []Failure {
	var all []Failure
	for _, n := range v.names {
		c := v.open
		c.name, c.told = n.name, n.file
		all = append(all, c.failure())
	}
	return all
}

func (v *vitest) end() { v.close() }

func (v *vitest) tallies() []tally { return []tally{v.sum} }
