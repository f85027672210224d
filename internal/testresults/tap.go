package testresults

// anyTAP is what a framework is called that is known by its TAP only.
const anyTAP = "tap"

// tap reads TAP, one stream of it after another.
type tap struct {
	node, other tally // of the streams that have ended
	doc         *document
}

func newTAP() *tap {
	return &tap{node: newTally(nodeTest), other: newTally(anyTAP)}
}

func (t *tap) line(text string) step {
	if t.doc != nil && t.doc.diagnostic(text) {
		return nothing
	}
	l := readTAP(text)
	if t.starts(l) {
		t.finish()
		t.doc = newDocument(l.kind == tapVersion)
	}
	if t.doc == nil {
		return nothing
	}
	step := t.doc.take(l, text)
	if t.doc.node != nil { // node:test's totals come last
		t.finish()
	}
	return step
}

// starts reports whether a line begins a stream: its version, or without one a
// plan or the first point. Only a version breaks off a stream that goes on.
func (t *tap) starts(l tapLine) bool {
	if l.depth != 0 {
		return false
	}
	switch l.kind {
	case tapVersion:
		return true
	case tapPlan:
		return t.doc == nil || t.doc.ended || t.doc.bare() && t.doc.levels[0].points == 0
	case tapPoint:
		return l.n == 1 && (t.doc == nil || t.doc.ended || t.doc.bare() && !t.doc.levels[0].planned)
	}
	return false
}

func (t *tap) finish() {
	if t.doc == nil {
		return
	}
	t.doc.finish()
	ended := t.doc.tally()
	t.doc = nil
	t.sum(&ended)
}

func (t *tap) sum(ended *tally) {
	if !ended.totalled {
		return
	}
	sum := &t.other
	if ended.Framework == nodeTest {
		sum = &t.node
	}
	sum.add(&ended.Results)
	sum.totalled = true
}

func (t *tap) end() { t.finish() }

func (t *tap) tallies() []tally {
	all := []tally{t.node, t.other}
	if t.doc != nil {
		all = append(all, t.doc.tally())
	}
	return all
}
