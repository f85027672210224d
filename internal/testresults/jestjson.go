package testresults

import "strings"

// jestFile is what a report says of one test file.
type jestFile struct {
	name, status, message string
	failed                int // of its tests
}

// jestTest is what it says of one test.
type jestTest struct {
	title, status string
	suites        []string
	messages      []string
	line          float64
}

// file reads an element of testResults. A file that failed although no test in
// it did, as one that could not be loaded, is a failure of its own.
func (j *jsonReport) file() error {
	var f jestFile
	var failed []jestTest
	err := j.object(func(name string) error {
		switch name {
		case "name":
			return j.text(&f.name)
		case "status":
			return j.text(&f.status)
		case "message":
			return j.text(&f.message)
		case "endTime":
			return j.end()
		case "assertionResults":
			return j.array(func() error { return j.assertion(&f, &failed) })
		}
		return j.skip()
	})
	if err != nil {
		return err
	}
	f.name = cleanName(f.name)
	j.list(f, failed)
	return nil
}

// end keeps the latest time at which a file ended.
func (j *jsonReport) end() error {
	var at float64
	err := j.number(&at)
	j.ended = max(j.ended, at)
	return err
}

// assertion counts one test, and keeps it for the list if it failed.
func (j *jsonReport) assertion(f *jestFile, kept *[]jestTest) error {
	var t jestTest
	if err := j.object(func(name string) error { return j.testField(&t, name) }); err != nil {
		return err
	}
	switch t.status {
	case "passed", "focused":
		j.sum.count(passed, 1)
	case "failed":
		j.sum.count(failed, 1)
		if f.failed++; f.failed <= maxFailures {
			*kept = append(*kept, t)
		}
	case "todo":
		j.sum.count(todo, 1)
	default: // skipped, pending, disabled
		j.sum.count(skipped, 1)
	}
	return nil
}

func (j *jsonReport) testField(t *jestTest, name string) error {
	switch name {
	case "title":
		return j.text(&t.title)
	case "status":
		return j.text(&t.status)
	case "ancestorTitles":
		return j.texts(&t.suites)
	case "failureMessages":
		return j.texts(&t.messages)
	case "location":
		return j.object(func(name string) error {
			if name == "line" {
				return j.number(&t.line)
			}
			return j.skip()
		})
	}
	return j.skip()
}

// texts reads a few strings.
func (j *jsonReport) texts(into *[]string) error {
	return j.array(func() error {
		var text string
		err := j.text(&text)
		if len(*into) < maxDepth {
			*into = append(*into, cut(text, 2*maxMessage))
		}
		return err
	})
}

// list lists a file's failures.
func (j *jsonReport) list(f jestFile, tests []jestTest) {
	for _, t := range tests {
		c := &capture{told: ownPlace(f.name, int(min(max(t.line, 0), 1e9)))}
		for _, name := range append(t.suites, t.title) {
			c.name = joinNames(c.name, cleanName(name))
		}
		for _, message := range t.messages {
			clean(message, c.add)
		}
		j.sum.fail(c.failure())
	}
	if f.status == "failed" && f.failed == 0 {
		j.sum.fail(f.failure())
	}
}

// failure is what a file says that failed by itself. Jest words that as it
// prints it, with a bullet and the source around the error.
func (f jestFile) failure() Failure {
	c := &capture{name: f.name, told: ownPlace(f.name, 0)}
	if c.told.file != "" {
		c.name = c.told.file
	}
	clean(cut(f.message, 2*maxMessage), func(line string) {
		if !strings.HasPrefix(line, "  ● ") && !codeFrame(line) {
			c.add(dedent(line, 4))
		}
	})
	return c.failure()
}
