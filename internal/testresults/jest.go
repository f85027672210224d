package testresults

import "strings"

// jest reads Jest's default and verbose reporters: the files that failed, each
// failure under a "●", and the totals at the end.
type jest struct {
	sum   tally
	file  string // whose failures are being told
	suite bool   // "Test Suites:" was the last line: "Tests:" follows
	open  *capture
}

func newJest() *jest {
	return &jest{sum: newTally("jest")}
}

func (j *jest) line(text string) step {
	switch {
	case strings.HasPrefix(text, "  ● "):
		j.bullet(text[len("  ● "):])
	case strings.HasPrefix(text, "    "), text == "":
		j.told(text)
	default:
		j.close()
		return j.header(text)
	}
	return nothing
}

// header reads a line that is not indented.
func (j *jest) header(text string) step {
	after := j.suite
	j.suite = strings.HasPrefix(text, "Test Suites: ")
	if counts, ok := strings.CutPrefix(text, "Tests: "); ok && after {
		return j.totals(counts)
	}
	if took, ok := strings.CutPrefix(text, "Time: "); ok && j.sum.totalled {
		j.sum.DurationMS += duration(strings.TrimSpace(took))
		return nothing
	}
	if file, ok := resultLine(text); ok {
		j.file = file
		return began
	}
	return nothing
}

// resultLine reads "FAIL project test/calc.test.js (5.1 s)". Vitest says the
// same with the test's name, or with the file once more.
func resultLine(text string) (file string, ok bool) {
	verdict, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	if verdict != "FAIL" && verdict != "PASS" {
		return "", false
	}
	if vitest := strings.Contains(rest, " > ") || strings.Contains(rest, " [ "); vitest {
		return "", false
	}
	if i := strings.LastIndex(rest, " ("); i >= 0 {
		rest = rest[:i]
	}
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return "", false
	}
	return fields[len(fields)-1], true
}

// bullet begins a failure, or one of the other things that Jest puts so.
func (j *jest) bullet(title string) {
	j.close()
	if j.file == "" || title == "Console" {
		return
	}
	j.open = &capture{
		name: strings.ReplaceAll(title, " › ", " > "),
		told: ownPlace(j.file, 0),
	}
}

func (j *jest) told(text string) {
	if j.open != nil && !codeFrame(text) {
		j.open.add(dedent(text, 4))
	}
}

// codeFrame recognises a line of the source that is shown around an error:
// "  > 5 |   add(1, 2)", or the one below with nothing but a caret.
func codeFrame(text string) bool {
	margin, code, ok := strings.Cut(text, "|")
	if !ok {
		return false
	}
	margin = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(margin), ">"))
	if margin == "" {
		return strings.Trim(code, " ^") == ""
	}
	_, isNumber := number(margin)
	return isNumber
}

// totals reads "6 failed, 1 skipped, 1 todo, 2 passed, 10 total".
func (j *jest) totals(text string) step {
	total, ok := countWords(strings.Split(text, ","))
	if !ok {
		return nothing
	}
	j.sum.add(total)
	j.sum.totalled = true
	return finished
}

func (j *jest) close() {
	if j.open != nil {
		j.sum.fail(j.open.failure())
	}
	j.open = nil
}

func (j *jest) end() { j.close() }

func (j *jest) tallies() []tally { return []tally{j.sum.with(j.open)} }
