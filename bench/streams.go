package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// streams lists what is measured of executions that are watched live.
func (l *lab) streams() []comparison {
	return []comparison{
		{
			name: "line printed to line read, p50", against: "ping", aim: "no aim yet", unit: "ms", rounds: 20,
			measured: l.latency(0.5), reference: l.ping,
		},
		{
			name: "line printed to line read, p95", against: "ping", aim: "≤ 20 ms", unit: "ms", rounds: 20,
			measured: l.latency(0.95), reference: l.ping,
		},
		{
			name: "300 viewers of 500 events", against: "1 viewer", aim: "no aim yet", unit: "ms", rounds: 3,
			measured: l.viewers(300), reference: l.viewers(1),
		},
		{
			name: "memory growth by 300 viewers", aim: "no aim yet", unit: "MiB", rounds: 3,
			measured: growthIn(l.standard.PID, l.viewers(300)),
		},
	}
}

// clock prints what time it is, again and again. The sandbox's clock is the host's.
var clock = fmt.Sprintf(`import time
for _ in range(%d):
    print(time.time_ns(), flush=True)
    time.sleep(0.005)`, ticks)

const ticks = 50

// latency gives a quantile of the times, in one stream, from a line's print in
// the sandbox until its viewer has read it.
func (l *lab) latency(q float64) sample {
	return func(ctx context.Context) (float64, error) {
		s, err := l.watch(ctx, http.MethodPost, l.standard.URL+"/run", clock)
		if err != nil {
			return 0, err
		}
		defer s.close()
		return s.latency(q)
	}
}

// latency reads what clock prints, to its end.
func (s *stream) latency(q float64) (float64, error) {
	var took []float64
	if err := s.succeed(func(e event) { took = append(took, ages(e.Data)...) }); err != nil {
		return 0, err
	}
	if len(took) != ticks {
		return 0, fmt.Errorf("%d of %d lines came", len(took), ticks)
	}
	return quantile(took, q), nil
}

// ages says how long ago lines were printed, by the times that are in them.
func ages(lines string) []float64 {
	now := time.Now().UnixNano()
	var all []float64
	for line := range strings.Lines(lines) {
		if printed, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64); err == nil {
			all = append(all, milliseconds(time.Duration(now-printed)))
		}
	}
	return all
}

// chatter prints 500 lines, one event each, when it is told to begin.
const chatter = `import os, time
print("ready", flush=True)
while not os.path.exists("/tmp/begin"): time.sleep(0.005)
os.remove("/tmp/begin")
for i in range(500):
    print(i, "x" * 80, flush=True)
    time.sleep(0.001)`

// viewers times how long n viewers of one execution take, from its first line
// on, until the last of them has read its last event.
func (l *lab) viewers(n int) sample {
	return func(ctx context.Context) (float64, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		all, err := l.gather(ctx, n)
		defer all.close()
		if err != nil {
			return 0, err
		}
		begin := l.post(l.standard.URL+"/run?language=bash", "touch /tmp/begin", `"exited"`)
		return timed(func(ctx context.Context) error {
			if _, err := begin(ctx); err != nil {
				return err
			}
			return all.until(complete)
		})(ctx)
	}
}

// gather starts an execution that waits, and n viewers of it who all have seen so.
func (l *lab) gather(ctx context.Context, n int) (audience, error) {
	first, err := l.watch(ctx, http.MethodPost, l.standard.URL+"/run", chatter)
	if err != nil {
		return nil, err
	}
	all := audience{first}
	for len(all) < n {
		s, err := l.watch(ctx, http.MethodGet, l.standard.URL+first.location+"/events", "")
		if err != nil {
			return all, err
		}
		all = append(all, s)
	}
	return all, all.until(func(e event) bool { return e.Data == "ready\n" })
}

// audience is all viewers of one execution.
type audience []*stream

func (a audience) close() {
	for _, s := range a {
		s.close()
	}
}

// until has every viewer read on to the first event that is wanted. When one of
// them fails, all of them end.
func (a audience) until(wanted func(event) bool) error {
	var group errgroup.Group
	for i, s := range a {
		group.Go(func() error {
			err := s.until(wanted)
			if err != nil {
				a.close()
				return fmt.Errorf("viewer %d: %w", i+1, err)
			}
			return nil
		})
	}
	return group.Wait()
}
