// Command bench measures Sandgate as its users meet it: the built gateway over
// HTTP, on real gVisor sandboxes.
//
// Machines are noisy, so no figure stands alone. Every measurement alternates
// with a named reference in the same run, and the table gives medians, the
// spread from the tenth to the ninetieth percentile, and the ratio of medians
// with its aim. The references:
//
//	P      /usr/bin/python3 -c pass
//	I      /usr/bin/python3 -c "import IPython"
//	ping   GET /notebook of a running notebook: the same way in, no work
//	plain  a bare Go file server on the same disk
//	grep   grep -rn over the same tree, timed inside a sandbox
//	10     the same on a gateway on which 10 sandboxes sleep
//	quiet  the same request while nothing else goes on
//
// Throughput is compared with go-judge's runs of /bin/true, if its module can
// be had and built, otherwise with the host's own starts of sh.
//
// Usage: bench [-only regexp] [-rounds factor] [-asleep number] [-cold]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run() error {
	only := flag.String("only", "", "measure only what this regular expression finds in a name")
	rounds := flag.Float64("rounds", 1, "how many rounds, as a factor of each measurement's own number")
	cold := flag.Bool("cold", false, "also clone the repository and time its first make run (minutes)")
	asleep := flag.Int("asleep", manySleepers, "tell growth beside so many sandboxes that sleep: each takes some 40 MB of disk")
	flag.Parse()
	pattern, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()

	lab, err := newLab()
	if err != nil {
		return err
	}
	defer lab.close()
	var failed error // one that cannot be measured is no reason to lose the others
	report := newReport(os.Stdout)
	for _, c := range lab.comparisons(*cold, *asleep) {
		if !pattern.MatchString(c.name) {
			continue
		}
		result, err := c.measure(ctx, *rounds)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", c.name, err))
			continue
		}
		report.add(&c, result)
	}
	return errors.Join(failed, report.close())
}
