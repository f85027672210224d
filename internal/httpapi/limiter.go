package httpapi

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/semaphore"

	"sandgate/sandboxclient"
)

// LimiterOptions say what a limiter admits.
type LimiterOptions struct {
	Kind     string        // of requests, as the metrics call it
	Most     int           // at once; as many more may wait
	Wait     time.Duration // how long one waits at most
	Registry prometheus.Registerer
}

// A Limiter bounds how many requests of one kind are answered at once. One too
// many waits for its turn, first come, first served; when the wait is too long,
// or too many wait already, it is exhausted.
type Limiter struct {
	slots   *semaphore.Weighted
	most    int64
	wait    time.Duration
	held    atomic.Int64
	waiting atomic.Int64
}

// NewLimiter makes a limiter that tells its registry how full it is.
func NewLimiter(opts LimiterOptions) *Limiter {
	l := &Limiter{slots: semaphore.NewWeighted(int64(opts.Most)), most: int64(opts.Most), wait: opts.Wait}
	labels := prometheus.Labels{"kind": opts.Kind}
	gauge := func(name, help string, value *atomic.Int64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: labels},
			func() float64 { return float64(value.Load()) })
	}
	opts.Registry.MustRegister(
		gauge("sandgate_http_slots_held", "Requests that hold a slot, by kind.", &l.held),
		gauge("sandgate_http_slots_waiting", "Requests that wait for a slot, by kind.", &l.waiting),
	)
	return l
}

// Admit gives a handler a slot for each request. It is taken before anything of
// the body is read, so that whoever waits costs next to nothing.
func (l *Limiter) Admit(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if err := l.enter(c.Request().Context()); err != nil {
			return err
		}
		defer l.leave()
		return next(c)
	}
}

func (l *Limiter) enter(ctx context.Context) error {
	if !l.slots.TryAcquire(1) {
		if err := l.queue(ctx); err != nil {
			return err
		}
	}
	l.held.Add(1)
	return nil
}

func (l *Limiter) leave() {
	l.held.Add(-1)
	l.slots.Release(1)
}

// queue waits for a slot.
func (l *Limiter) queue(ctx context.Context) error {
	defer l.waiting.Add(-1)
	if l.waiting.Add(1) > l.most {
		return l.full()
	}
	waiting, cancel := context.WithTimeout(ctx, l.wait)
	defer cancel()
	if l.slots.Acquire(waiting, 1) == nil {
		return nil
	}
	if ctx.Err() != nil { // the client left, or the gateway stops
		return ctx.Err()
	}
	return l.full()
}

func (l *Limiter) full() error {
	return sandboxclient.Errorf(sandboxclient.CodeExhausted,
		"The gateway answers %d requests of this kind already, the most it may; try again soon", l.most)
}
