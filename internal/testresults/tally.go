package testresults

import "slices"

// A tally is what one framework told on one stream.
type tally struct {
	Results
	totalled bool // totals were told, not only failures
}

func newTally(framework string) tally {
	return tally{Results: Results{Framework: framework}}
}

// with gives a copy that has the failure too which is being read, if any is.
func (t *tally) with(open *capture) tally {
	c := *t
	if open != nil && open.name != "" {
		c.Failures = slices.Clone(c.Failures)
		c.fail(open.failure())
	}
	return c
}
