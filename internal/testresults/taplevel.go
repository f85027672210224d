package testresults

import (
	"fmt"
	"slices"
)

// A level is a TAP stream's own points, or those of one subtest.
type level struct {
	counts    Results
	points    int
	planned   bool
	plan      int
	strict    bool
	first     int      // where its failures begin among the document's
	name      string   // as a comment announced it
	announced string   // the name of the next subtest in it
	parent    *tapLine // the point that opened it with a brace
}

// calls gives what a level's failures are prefixed with.
func (l *level) calls() string {
	if l.parent != nil {
		return l.parent.text
	}
	return l.name
}

func (d *document) push(l level) {
	l.first, l.strict = len(d.failures), d.top().strict
	d.top().announced = ""
	d.levels = append(d.levels, l)
}

// open takes the last point for the parent of the subtest in the braces that
// begin here.
func (d *document) open() {
	p := d.last
	if p == nil || !p.leaf || p.depth != len(d.levels)-1 {
		return
	}
	d.settle()
	d.top().counts.count(p.outcome, -1)
	if p.listed >= 0 {
		d.failures = slices.Delete(d.failures, p.listed, p.listed+1)
	}
	d.push(level{parent: p.tapLine})
}

// closeBelow ends the subtests that are further in than depth. p, if any, is
// the point that stands for the outermost of them.
func (d *document) closeBelow(depth int, p *tapLine) {
	for len(d.levels) > depth+1 {
		child := *d.top()
		d.levels = d.levels[:len(d.levels)-1]
		if child.parent == nil && len(d.levels) == depth+1 {
			child.parent = p
		}
		d.settle()
		d.adopt(&child)
	}
}

// adopt counts a subtest that has ended in its parent. The point that stands
// for it counts by itself only when it says something that they do not.
func (d *document) adopt(child *level) {
	d.checkPlan(child)
	d.prefix(child.first, child.calls())
	p := child.parent
	if p != nil && (p.outcome == todo || p.outcome == skipped) {
		child.counts.count(p.outcome, child.counts.Failed)
		child.counts.count(failed, -child.counts.Failed)
		d.failures = d.failures[:child.first]
	}
	d.top().counts.add(&child.counts)
	if p != nil && (child.points == 0 || p.outcome == failed && child.counts.Failed == 0) {
		d.leaf(p)
	}
}

// prefix puts the name of their subtest before those of its failures.
func (d *document) prefix(first int, name string) {
	for i := first; i < len(d.failures); i++ {
		d.failures[i].Name = joinNames(name, d.failures[i].Name)
	}
}

// checkPlan lists what is wrong with a number of points. Planned tests that
// never ran have failed.
func (d *document) checkPlan(l *level) {
	switch missing := l.plan - l.points; {
	case !l.planned || d.bailed || missing == 0:
	case missing > 0:
		l.counts.count(failed, missing)
		d.fail("plan", fmt.Sprintf("%d of %d planned tests did not run", missing, l.plan))
	default:
		d.fail("plan", fmt.Sprintf("%d tests ran, but %d were planned", l.points, l.plan))
	}
}
