package testresults

import "strings"

// nodeTest is what the framework is called that Node itself has.
const nodeTest = "node:test"

// nodeSpec reads node:test's spec reporter: the totals, "ℹ pass 5", and the
// list of failing tests after them.
type nodeSpec struct {
	sum     tally
	trailer trailer
	listing bool
	open    *capture
}

func newNodeSpec() *nodeSpec {
	return &nodeSpec{sum: newTally(nodeTest)}
}

func (n *nodeSpec) line(text string) step {
	if info, ok := strings.CutPrefix(text, "ℹ "); ok {
		return n.info(info)
	}
	if text == "✖ failing tests:" {
		n.listing = true
		return nothing
	}
	if n.listing {
		n.listed(text)
	}
	return nothing
}

func (n *nodeSpec) info(text string) step {
	totals, complete := n.trailer.take(text)
	if !complete {
		return nothing
	}
	n.sum.add(totals)
	n.sum.totalled = true
	return finished
}

// listed reads a line of the list: where a test is, its name, and what it
// threw, further in. An empty line ends that, for those of a message are
// indented. Anything else ends the list, unless it is the rest of a name.
func (n *nodeSpec) listed(text string) {
	at, located := strings.CutPrefix(text, "test at ")
	name, named := strings.CutPrefix(text, "✖ ")
	switch {
	case located:
		n.close()
		n.open = &capture{told: placeOf(at)}
	case text == "":
		n.close()
	case named && n.open != nil && n.open.name == "":
		n.title(name)
	case n.open != nil && !strings.HasPrefix(text, "⚠ "):
		n.open.add(unquote(dedent(text, 2))) // what is thrown is quoted if it is a string
	default: // indented, or with a sign, it belongs to a TODO
		n.open = nil
		n.listing = strings.HasPrefix(text, "  ") || strings.HasPrefix(text, "⚠ ")
	}
}

// title takes a failure's name off its line, which may end in a duration and,
// with a TODO, a directive.
func (n *nodeSpec) title(text string) {
	name, rest := text, ""
	if end := strings.LastIndex(text, "ms)"); end > 0 {
		name, rest = text[:max(strings.LastIndex(text[:end], " ("), 0)], text[end+len("ms)"):]
	}
	if strings.HasPrefix(rest, " # ") {
		n.open = nil
		return
	}
	n.open.name = name
}

func (n *nodeSpec) close() {
	if n.open != nil && n.open.name != "" {
		n.sum.fail(n.open.failure())
	}
	n.open = nil
}

func (n *nodeSpec) end() { n.close() }

func (n *nodeSpec) tallies() []tally { return []tally{n.sum.with(n.open)} }
