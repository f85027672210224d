package testresults

import "strings"

// A trailer reads the totals that end node:test's output, one a line and
// always in this order.
type trailer struct {
	next   int
	values [8]int
}

var trailerKeys = [...]string{"tests", "suites", "pass", "fail", "cancelled", "skipped", "todo", "duration_ms"}

const lastKey = len(trailerKeys) - 1

// take reads "pass 5" and gives the totals when the line completes them.
func (t *trailer) take(line string) (*Results, bool) {
	key, value, _ := strings.Cut(line, " ")
	if key == trailerKeys[0] {
		t.next = 0
	}
	if t.next == 1 && key == trailerKeys[2] { // Node 18 counts no suites
		t.next = 2
	}
	if key != trailerKeys[t.next] {
		t.next = 0
		return nil, false
	}
	if t.next == lastKey {
		t.next = 0
		return t.totals(milliseconds(value)), true
	}
	n, ok := number(value)
	if !ok {
		t.next = 0
		return nil, false
	}
	t.values[t.next] = n
	t.next++
	return nil, false
}

func (t *trailer) totals(durationMS float64) *Results {
	return &Results{
		Total:      t.values[0],
		Passed:     t.values[2],
		Failed:     t.values[3] + t.values[4], // a cancelled test did not pass
		Skipped:    t.values[5],
		Todo:       t.values[6],
		DurationMS: durationMS,
	}
}
