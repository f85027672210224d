package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"
)

// throughput lists what the whole machine does in a second.
func (l *lab) throughput() []comparison {
	return []comparison{{
		name: "warm cells on all cores", aim: "no aim yet", unit: "1/s", rounds: 5,
		measured: perSecond(l.cell), prepare: l.chooseReference,
	}}
}

// cell runs one warm cell in the notebook of a worker.
func (l *lab) cell(ctx context.Context, worker int) error {
	_, err := l.post(fmt.Sprintf("%s/notebook?notebook=worker-%d", l.standard.URL, worker), "print(1)", `"1\n"`)(ctx)
	return err
}

// perSecond says how often a second something is done by twice as many workers
// as there are cores, which keeps the cores busy while answers are on their way.
func perSecond(do func(ctx context.Context, worker int) error) sample {
	const each = 100
	workers := 2 * runtime.NumCPU()
	return func(ctx context.Context) (float64, error) {
		group, ctx := errgroup.WithContext(ctx)
		began := time.Now()
		for worker := range workers {
			group.Go(func() error {
				for range each {
					if err := do(ctx, worker); err != nil {
						return err
					}
				}
				return nil
			})
		}
		err := group.Wait()
		return float64(each*workers) / time.Since(began).Seconds(), err
	}
}

// chooseReference gives a comparison go-judge's runs of true as its reference, or
// the host's starts of sh if there is no go-judge.
func (l *lab) chooseReference(ctx context.Context, c *comparison) error {
	judge, err := newJudge(ctx, l.dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench: the host's starts of sh stand in for go-judge:", err)
		c.against, c.reference = "sh", perSecond(shell)
		return ctx.Err()
	}
	l.judge = judge
	c.against, c.reference = "go-judge", perSecond(judge.runTrue)
	return nil
}

func shell(ctx context.Context, _ int) error {
	return exec.CommandContext(ctx, "/bin/sh", "-c", "true").Run()
}
