package testresults

import "strings"

const (
	// maxDepth is how far subtests are followed into each other.
	maxDepth = 32
	// subtest begins the comment that names the next subtest or point.
	subtest = "Subtest: "
)

// A document is one TAP stream.
type document struct {
	versioned bool
	levels    []level // the stream, and the subtests that are open in each other
	failures  []Failure
	last      *lastPoint // when the line before was a point, or said more of it

	seen    bool     // there was a point, however far in
	ended   bool     // no more points have to come
	bailed  bool     // the run was abandoned
	node    *Results // node:test's own totals
	trailer trailer
	took    float64 // milliseconds, where a comment says so
	points  float64 // what the stream's own points took
}

// lastPoint is the point that what is told next is about.
type lastPoint struct {
	*tapLine
	leaf   bool
	failed *capture // nil: it did not, or its subtest tells why
	listed int      // where its failure stands among the document's; -1: nowhere
	yaml   *diagnostics
}

func newDocument(versioned bool) *document {
	return &document{versioned: versioned, levels: []level{{}}}
}

// bare reports whether only its points and its plan say that this is TAP.
func (d *document) bare() bool { return !d.versioned }

func (d *document) top() *level { return &d.levels[len(d.levels)-1] }

// take reads a line that is not part of diagnostics.
func (d *document) take(l tapLine, raw string) step {
	if !d.placed(l) {
		d.other(raw)
		return nothing
	}
	if l.kind == tapOpen {
		d.open()
		return nothing
	}
	d.settle()
	if l.depth == len(d.levels) {
		d.push(level{name: d.top().announced})
	}
	endedBefore := d.ended
	d.act(l)
	d.ended = d.ended || d.complete()
	switch {
	case d.ended && !endedBefore, d.node != nil:
		return finished
	case l.kind == tapVersion:
		return began
	}
	return nothing
}

// placed reports whether a line is TAP where it stands. Some kinds can be the
// first of a subtest.
func (d *document) placed(l tapLine) bool {
	switch l.kind {
	case tapOther:
		return false
	case tapVersion, tapPlan, tapPoint, tapPragma:
		return l.depth <= len(d.levels) && l.depth < maxDepth
	case tapComment:
		if strings.HasPrefix(l.text, subtest) {
			return l.depth <= len(d.levels) && l.depth < maxDepth
		}
	}
	return l.depth < len(d.levels)
}

func (d *document) act(l tapLine) {
	switch l.kind {
	case tapPlan:
		d.closeBelow(l.depth, nil)
		d.top().planned, d.top().plan = true, l.n
	case tapPoint:
		d.point(&l)
	case tapComment:
		d.comment(l)
	case tapPragma:
		d.pragma(l.text)
	case tapBailOut:
		d.bailOut(l.text)
	case tapClose:
		d.closeBelow(l.depth, nil)
	}
}

// complete reports whether the stream has the points that it planned.
func (d *document) complete() bool {
	stream := d.levels[0]
	return stream.planned && len(d.levels) == 1 && stream.points >= stream.plan
}

// point counts a test point, unless it stands for the subtest before it or for
// the one in the braces that it opens.
func (d *document) point(l *tapLine) {
	isParent := len(d.levels) > l.depth+1 && !l.opens
	if isParent {
		d.closeBelow(l.depth, l)
	} else {
		d.closeBelow(l.depth, nil)
	}
	d.seen = true
	d.top().points++
	if l.depth == 0 {
		d.points += l.durationMS
	}
	switch {
	case l.opens:
		d.push(level{parent: l})
	case !isParent:
		d.leaf(l)
	case d.last == nil:
		d.last = &lastPoint{tapLine: l, listed: -1}
	}
}

// leaf counts a point by itself.
func (d *document) leaf(l *tapLine) {
	d.last = &lastPoint{tapLine: l, leaf: true, listed: -1}
	d.top().counts.count(l.outcome, 1)
	if l.outcome == failed {
		d.last.failed = &capture{name: l.name()}
		d.last.listed = d.fail(l.name(), "")
	}
}

// fail lists a failure and tells where; nowhere when there are enough.
func (d *document) fail(name, message string) int {
	if len(d.failures) >= maxFailures {
		return -1
	}
	d.failures = append(d.failures, Failure{Name: name, Message: cut(message, maxMessage)})
	return len(d.failures) - 1
}

// settle ends what is told of the last point.
func (d *document) settle() {
	if d.last == nil {
		return
	}
	if y := d.last.yaml; y != nil && d.last.depth == 0 {
		d.points += y.durationMS
	}
	if d.last.listed >= 0 {
		d.failures[d.last.listed] = d.last.failed.failure()
	}
	d.last = nil
}

// comment reads a comment that may mean something: the name of the subtest that
// follows, node:test's totals, how long it all took.
func (d *document) comment(l tapLine) {
	if name, ok := strings.CutPrefix(l.text, subtest); ok {
		d.levels[l.depth].announced = cut(unescapeTAP(name), maxName)
		return
	}
	if l.depth > 0 {
		return
	}
	if took, ok := strings.CutPrefix(l.text, "time="); ok {
		d.took = duration(took)
	}
	if totals, ok := d.trailer.take(l.text); ok && d.levels[0].planned {
		d.node = totals
	}
}

// pragma sets "+strict", or takes it back.
func (d *document) pragma(text string) {
	for word := range strings.FieldsSeq(text) {
		if name := strings.TrimLeft(word, "+-"); name == "strict" {
			d.top().strict = word[0] == '+'
		}
	}
}

// bailOut ends a stream that was abandoned.
func (d *document) bailOut(why string) {
	d.closeBelow(0, nil)
	d.fail(bailOut, why)
	d.ended, d.bailed = true, true
}
