package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// A sample does something once and says how long it took, or how much it was.
type sample func(context.Context) (float64, error)

// A comparison is one line of the table: what is measured, against what.
type comparison struct {
	name      string
	against   string // the reference's name; "" for a figure that has an absolute aim
	aim       string
	unit      string // of both
	rounds    int
	inverse   bool // the ratio is of speeds: reference time ÷ measured time
	measured  sample
	reference sample
	prepare   func(context.Context, *comparison) error // when its turn comes; nil: nothing to do
}

// outcome holds the samples of one comparison.
type outcome struct{ measured, reference []float64 }

// measure alternates what is measured with its reference. The first round of
// each warms up and is not counted, unless there is to be one round alone.
func (c *comparison) measure(ctx context.Context, factor float64) (outcome, error) {
	var o outcome
	if c.prepare != nil {
		if err := c.prepare(ctx, c); err != nil {
			return o, err
		}
	}
	warmUp, rounds := 1, max(3, int(float64(c.rounds)*factor))
	if c.rounds == 1 {
		warmUp, rounds = 0, 1
	}
	for i := range warmUp + rounds {
		got, err := c.measured(ctx)
		if err != nil {
			return o, err
		}
		var ref float64
		if c.reference != nil {
			if ref, err = c.reference(ctx); err != nil {
				return o, fmt.Errorf("reference: %w", err)
			}
		}
		if i >= warmUp {
			o.measured, o.reference = append(o.measured, got), append(o.reference, ref)
		}
	}
	return o, nil
}

func (o outcome) ratio(inverse bool) float64 {
	r := quantile(o.measured, 0.5) / quantile(o.reference, 0.5)
	if inverse {
		return 1 / r
	}
	return r
}

// quantile of values, by the nearest rank.
func quantile(values []float64, q float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

// timed makes a sample of something that takes time, in milliseconds.
func timed(do func(context.Context) error) sample {
	return func(ctx context.Context) (float64, error) {
		began := time.Now()
		err := do(ctx)
		return milliseconds(time.Since(began)), err
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// prepared makes a sample that does first once, before it is first taken.
func prepared(first, s sample) sample {
	done := false
	return func(ctx context.Context) (float64, error) {
		if !done {
			if _, err := first(ctx); err != nil {
				return 0, err
			}
			done = true
		}
		return s(ctx)
	}
}

// report prints the table line by line, as results come.
type report struct{ w *tabwriter.Writer }

func newReport(w io.Writer) *report {
	r := &report{tabwriter.NewWriter(w, 34, 0, 2, ' ', 0)}
	fmt.Fprintln(r.w, "measured\tmedian (p10–p90)\treference\tratio, aim")
	return r
}

func (r *report) add(c *comparison, o outcome) {
	spread := fmt.Sprintf("%.2f (%.2f–%.2f) %s", quantile(o.measured, 0.5), quantile(o.measured, 0.1), quantile(o.measured, 0.9), c.unit)
	if c.reference == nil {
		fmt.Fprintf(r.w, "%s\t%s\t\t%s\n", c.name, spread, c.aim)
	} else {
		reference := fmt.Sprintf("%s %.2f (%.2f–%.2f)", c.against, quantile(o.reference, 0.5), quantile(o.reference, 0.1), quantile(o.reference, 0.9))
		fmt.Fprintf(r.w, "%s\t%s\t%s\t%.2f, %s\n", c.name, spread, reference, o.ratio(c.inverse), c.aim)
	}
	_ = r.w.Flush()
}

func (r *report) close() error { return r.w.Flush() }
