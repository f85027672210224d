package testresults

import "strings"

// A capture collects the lines that tell of one failure: its message, up to the
// stack trace, and of that the first place in the repository.
type capture struct {
	name    string
	told    place // where the runner says that the test is
	thrown  place // where its error came from
	message strings.Builder
	inStack bool
}

// add takes one more line.
func (c *capture) add(line string) {
	if f, ok := frameOf(line); ok {
		c.inStack = true
		c.at(f.place)
		return
	}
	if !c.inStack {
		c.say(line)
	}
}

// say adds a line to the message, as long as it can be seen. A message does not
// begin with an empty one.
func (c *capture) say(line string) {
	line = strings.TrimRight(line, " \t")
	if empty := c.message.Len() == 0; empty && line == "" || c.message.Len() > maxMessage {
		return
	}
	c.message.WriteString(line)
	c.message.WriteByte('\n')
}

// at takes a place of the stack trace.
func (c *capture) at(p place) {
	if c.thrown == (place{}) {
		c.thrown = p
	}
}

func (c *capture) failure() Failure {
	at := c.thrown
	if at == (place{}) {
		at = c.told
	}
	return Failure{
		Name:    cut(strings.TrimPrefix(c.name, appDir), maxName), // a file can be a test
		File:    at.file,
		Line:    at.line,
		Message: tidy(c.message.String()),
	}
}

// trace takes a line of a stack trace of which only the place is wanted.
func (c *capture) trace(line string) {
	if f, ok := frameOf(line); ok {
		c.at(f.place)
	}
}
