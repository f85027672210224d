package main

import (
	"context"
	"fmt"
	"net/http"
	"sync"
)

// A dormitory is a bedroom in which many notebooks sleep already.
type dormitory struct {
	*bedroom
	sleepers, made int
}

// So many sleep beside what is measured: a few, and many if nobody says how many.
const (
	fewSleepers  = 10
	manySleepers = 100
)

// growths lists how things grow from a few sandboxes to many.
func (l *lab) growths(many int) []comparison {
	few := &dormitory{bedroom: l.bedroom(0, "--warm"), sleepers: fewSleepers}
	full := &dormitory{bedroom: l.bedroom(0, "--warm"), sleepers: many}
	both := func(ctx context.Context, c *comparison) error {
		if err := few.fill(ctx, c); err != nil {
			return err
		}
		return full.fill(ctx, c)
	}
	row := func(name, unit string, rounds int, of func(*dormitory) sample) comparison {
		return comparison{
			name: fmt.Sprintf("%s, beside %d that sleep", name, many), against: fmt.Sprintf("beside %d", fewSleepers),
			aim: "no aim yet", unit: unit, rounds: rounds, measured: of(full), reference: of(few), prepare: both,
		}
	}
	return []comparison{
		row("first cell of a notebook, from the template", "ms", 20, func(d *dormitory) sample { return d.firstCell }),
		row("wake to answer", "ms", 20, func(d *dormitory) sample { return d.wake("x = 41") }),
		row("hibernate", "ms", 20, func(d *dormitory) sample { return d.hibernate("x = 41") }),
		row("list of sandboxes", "ms", 40, func(d *dormitory) sample { return d.list }),
		row("gateway's memory", "MiB", 3, func(d *dormitory) sample { return d.memory }),
	}
}

// fill opens the gateway and puts notebooks to sleep until there are enough.
func (d *dormitory) fill(ctx context.Context, c *comparison) error {
	if err := d.open(ctx, c); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	names := make(chan string)
	var workers sync.WaitGroup
	for range startWorkers {
		workers.Go(func() {
			for name := range names {
				if err := d.lay(ctx, name); err != nil {
					cancel(err)
				}
			}
		})
	}
	for ; d.made < d.sleepers && ctx.Err() == nil; d.made++ {
		names <- d.newName()
	}
	close(names)
	workers.Wait()
	return context.Cause(ctx)
}

// lay makes a notebook and puts it to sleep.
func (d *dormitory) lay(ctx context.Context, name string) error {
	if _, err := d.lab.post(d.URL+"/notebook?notebook="+name, "x = 41", `"exited"`)(ctx); err != nil {
		return err
	}
	return d.act(ctx, http.MethodPost, "/hibernate", name)
}

func (d *dormitory) list(ctx context.Context) (float64, error) {
	return d.lab.get(d.URL + "/v1/sandboxes")(ctx)
}

func (d *dormitory) memory(context.Context) (float64, error) { return memory(d.PID(), "VmRSS") }
