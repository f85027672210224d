package testresults

import (
	"slices"
	"strings"
)

// other takes a line that is not TAP: more about a failure before it, if it is
// further in, as Mocha prints it.
func (d *document) other(raw string) {
	if p := d.last; p != nil && p.failed != nil && indentOf(raw) > p.depth*tapIndent {
		p.failed.add(dedent(raw, p.depth*tapIndent+2))
		return
	}
	if d.top().strict && !d.ended && strings.TrimSpace(raw) != "" {
		d.fail("not TAP", raw)
	}
}

// diagnostic takes a line of the YAML block that may follow a point, and
// reports whether the line was one.
func (d *document) diagnostic(text string) bool {
	p := d.last
	if p == nil {
		return false
	}
	if p.yaml == nil || p.yaml.ended {
		indent := indentOf(text)
		within := indent > p.depth*tapIndent && indent <= (p.depth+2)*tapIndent
		if p.yaml != nil || !within || strings.TrimSpace(text) != "---" {
			return false
		}
		p.yaml = newDiagnostics(p.failed, indent)
		return true
	}
	return p.yaml.take(text)
}

// finish ends a stream of which nothing more comes.
func (d *document) finish() {
	d.settle()
	d.closeBelow(0, nil)
	d.settle()
	if d.node != nil {
		return
	}
	d.checkPlan(&d.levels[0])
	if !d.levels[0].planned && !d.bailed && d.versioned {
		d.fail("plan", "the run broke off before its plan")
	}
}

// tally gives what was read so far.
func (d *document) tally() tally {
	t := newTally(anyTAP)
	t.totalled = d.recognised()
	for i := range d.levels {
		t.add(&d.levels[i].counts)
	}
	t.DurationMS = d.points
	if d.took > 0 {
		t.DurationMS = d.took
	}
	if d.node != nil {
		t.Results = *d.node
		t.Framework = nodeTest
	}
	for _, failure := range d.named() {
		t.fail(failure)
	}
	return t
}

// recognised reports whether this was TAP after all.
func (d *document) recognised() bool {
	stream := d.levels[0]
	if d.versioned {
		return d.seen || stream.planned || d.bailed
	}
	return stream.points > 0 && stream.planned
}

// named gives the failures with the names of the subtests that are still open.
func (d *document) named() []Failure {
	all := slices.Clone(d.failures)
	if p := d.last; p != nil && p.listed >= 0 {
		all[p.listed] = p.failed.failure()
	}
	for i := len(d.levels) - 1; i > 0; i-- {
		for f := d.levels[i].first; f < len(all); f++ {
			all[f].Name = joinNames(d.levels[i].calls(), all[f].Name)
		}
	}
	return all
}
