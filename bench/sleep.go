package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"sandgate/internal/sandboxtest"
)

// A bedroom is a gateway whose sandboxes sleep, or begin, in a way of its own.
type bedroom struct {
	*sandboxtest.Gateway
	lab  *lab
	args []string
	pool int
}

// sleeps lists what it takes to begin, to sleep and to wake, beside a Python that
// imports IPython.
func (l *lab) sleeps() []comparison {
	warm := l.bedroom(0, "--warm")
	pooled := l.bedroom(1, "--warm")
	cold := l.bedroom(0, "--warm=false")
	large := l.bedroom(0, "--warm", "--memory", "2GiB")
	return []comparison{
		{name: "first cell of a notebook, from the pool", against: "P", aim: "≤ 1.0", unit: "ms", rounds: 20,
			measured: pooled.firstCell, reference: python, prepare: pooled.open},
		{name: "first cell of a notebook, from the template", against: "I", aim: "≤ 0.5", unit: "ms", rounds: 20,
			measured: warm.firstCell, reference: imported, prepare: warm.open},
		{name: "first cell of a notebook, cold", against: "I", aim: "no aim yet", unit: "ms", rounds: 10,
			measured: cold.firstCell, reference: imported, prepare: cold.open},
		{name: "hibernate", against: "I", aim: "≤ 0.25", unit: "ms", rounds: 20,
			measured: warm.hibernate("x = 41"), reference: imported, prepare: warm.open},
		{name: "wake to answer", against: "I", aim: "≤ 0.5", unit: "ms", rounds: 20,
			measured: warm.wake("x = 41"), reference: imported, prepare: warm.open},
		{name: "hibernate with 1 GiB in use", against: "I", aim: "no aim yet", unit: "ms", rounds: 3,
			measured: large.hibernate(gibibyte), reference: imported, prepare: large.open},
		{name: "wake to answer with 1 GiB in use", against: "I", aim: "no aim yet", unit: "ms", rounds: 3,
			measured: large.wake(gibibyte), reference: imported, prepare: large.open},
		{name: "fresh sandboxes on all processors", against: "starts of Python with IPython", aim: "no aim yet", unit: "per s", rounds: 3,
			measured: warm.starts, reference: importsAtOnce, prepare: warm.open},
		{name: "memory of a notebook that runs", aim: "no aim yet", unit: "MiB", rounds: 3,
			measured: warm.takes("memoryBytes", false), prepare: warm.open},
		{name: "disk of a notebook that sleeps", aim: "no aim yet", unit: "MiB", rounds: 3,
			measured: warm.takes("diskBytes", true), prepare: warm.open},
	}
}

// gibibyte is a cell that has so much in memory, none of it alike.
const gibibyte = "import os\nx = bytearray(1 << 30)\nfor at in range(0, 1 << 30, 4096): x[at:at + 8] = os.urandom(8)"

// imported is what a bare Python takes to be where a fresh notebook is.
func imported(ctx context.Context) (float64, error) {
	return timed(func(ctx context.Context) error {
		return exec.CommandContext(ctx, "/usr/bin/python3", "-c", "import IPython").Run()
	})(ctx)
}

func (l *lab) bedroom(pool int, args ...string) *bedroom {
	return &bedroom{lab: l, pool: pool, args: append(args, fmt.Sprint("--pool=", pool))}
}

// templateTime is what a template may take on a busy machine.
const templateTime = 2 * time.Minute

var errNoTemplate = errors.New("the gateway made no template: its log says why")

// open starts the gateway when it is first wanted, and waits until its sandboxes
// begin as they shall.
func (b *bedroom) open(ctx context.Context, _ *comparison) (err error) {
	if b.Gateway != nil {
		return nil
	}
	dir := filepath.Join(b.lab.dir, fmt.Sprint("b", len(b.lab.bedrooms)))
	if b.Gateway, err = sandboxtest.StartGateway(dir, b.args...); err != nil {
		return err
	}
	b.lab.bedrooms = append(b.lab.bedrooms, b.Gateway)
	if b.args[0] != "--warm" {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, templateTime, errNoTemplate)
	defer cancel()
	return until(ctx, func() bool {
		made, _ := filepath.Glob(filepath.Join(dir, "templates", "*", "synced"))
		return len(made) > 0
	})
}

// until waits for a condition that nobody announces.
func until(ctx context.Context, holds func() bool) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
	return nil
}

// firstCell is that of a new notebook, which is put to sleep afterwards.
func (b *bedroom) firstCell(ctx context.Context) (float64, error) {
	if err := until(ctx, b.rested); err != nil {
		return 0, err
	}
	name := b.newName()
	took, err := b.lab.post(b.URL+"/notebook?notebook="+name, "print(1)", `"1\n"`)(ctx)
	if err != nil {
		return 0, err
	}
	return took, b.act(ctx, http.MethodDelete, "", name)
}

// rested says whether the pool is full and nothing else starts or ends.
func (b *bedroom) rested() bool {
	var metrics strings.Builder
	if b.lab.request(context.Background(), http.MethodGet, b.Admin+"/metrics", nil, 0, &metrics) != nil {
		return false
	}
	for _, line := range []string{
		fmt.Sprint("sandgate_sandboxes_pooled ", b.pool),
		`sandgate_sandboxes{state="starting"} 0`, `sandgate_sandboxes{state="stopping"} 0`,
	} {
		if !strings.Contains(metrics.String(), line+"\n") {
			return false
		}
	}
	return true
}

func (b *bedroom) newName() string {
	b.lab.fresh++
	return fmt.Sprint("bench-", b.lab.fresh)
}

// act does something to a notebook's sandbox.
func (b *bedroom) act(ctx context.Context, method, action, name string) error {
	var sink strings.Builder
	target := b.URL + "/v1/sandboxes" + action + "?app=notebook&name=" + name
	if method == http.MethodDelete {
		target += "&files=true"
	}
	return b.lab.request(ctx, method, target, nil, 0, &sink)
}

// hibernate times how long a notebook takes to sleep that has run code.
func (b *bedroom) hibernate(code string) sample {
	return b.slept(code, func(ctx context.Context, name string) (float64, error) {
		return timed(func(ctx context.Context) error { return b.act(ctx, http.MethodPost, "/hibernate", name) })(ctx)
	})
}

// wake times the first answer of one that slept.
func (b *bedroom) wake(code string) sample {
	return b.slept(code, func(ctx context.Context, name string) (float64, error) {
		if err := b.act(ctx, http.MethodPost, "/hibernate", name); err != nil {
			return 0, err
		}
		return b.lab.post(b.URL+"/notebook?notebook="+name, "x is not None", `"woken"`)(ctx)
	})
}

// slept does something with a notebook that has run code, and removes it.
func (b *bedroom) slept(code string, do func(context.Context, string) (float64, error)) sample {
	return func(ctx context.Context) (float64, error) {
		name := b.newName()
		if _, err := b.lab.post(b.URL+"/notebook?notebook="+name, code, `"exited"`)(ctx); err != nil {
			return 0, err
		}
		took, err := do(ctx, name)
		if err != nil {
			return 0, err
		}
		return took, b.act(ctx, http.MethodDelete, "", name)
	}
}

// takes asks what a notebook takes of the host.
func (b *bedroom) takes(what string, asleep bool) sample {
	return b.slept("x = 41", func(ctx context.Context, name string) (float64, error) {
		action := "/wake"
		if asleep {
			action = "/hibernate"
		}
		var answer strings.Builder
		target := b.URL + "/v1/sandboxes" + action + "?app=notebook&name=" + name
		if err := b.lab.request(ctx, http.MethodPost, target, nil, 0, &answer); err != nil {
			return 0, err
		}
		var told map[string]any
		if err := json.Unmarshal([]byte(answer.String()), &told); err != nil {
			return 0, err
		}
		bytes, ok := told[what].(float64)
		if !ok {
			return 0, fmt.Errorf("there is no %s in %s", what, answer.String())
		}
		return bytes / (1 << 20), nil
	})
}

// At once, for throughput: so many, by so many workers.
const (
	startsAtOnce = 16
	startWorkers = 4
)

// starts is how many fresh notebooks answer in a second.
func (b *bedroom) starts(ctx context.Context) (float64, error) {
	var mu sync.Mutex
	return burst(ctx, func(ctx context.Context) error {
		mu.Lock()
		name := b.newName()
		mu.Unlock()
		if _, err := b.lab.post(b.URL+"/notebook?notebook="+name, "print(1)", `"1\n"`)(ctx); err != nil {
			return err
		}
		return b.act(ctx, http.MethodDelete, "", name)
	})
}

// importsAtOnce is how many bare Pythons with IPython do.
func importsAtOnce(ctx context.Context) (float64, error) {
	return burst(ctx, func(ctx context.Context) error {
		_, err := imported(ctx)
		return err
	})
}

// burst does something by several workers and says how often in a second.
func burst(ctx context.Context, do func(context.Context) error) (float64, error) {
	var workers sync.WaitGroup
	errs := make(chan error, startsAtOnce)
	began := time.Now()
	for range startWorkers {
		workers.Go(func() {
			for range startsAtOnce / startWorkers {
				errs <- do(ctx)
			}
		})
	}
	workers.Wait()
	took := time.Since(began).Seconds()
	for range startsAtOnce {
		if err := <-errs; err != nil {
			return 0, err
		}
	}
	return startsAtOnce / took, nil
}
