package httpapi

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"

	"sandgate/internal/identity"
	"sandgate/internal/quota"
	"sandgate/sandboxclient"
)

// LimiterOptions say what a limiter admits.
type LimiterOptions struct {
	Kind     string        // of requests, as the metrics call it
	Most     int           // at once; as many more may wait
	Each     int           // of one owner's at once; 0: Most
	Wait     time.Duration // how long one waits at most
	Registry prometheus.Registerer
}

// A Limiter bounds how many requests of one kind are answered at once. One too
// many waits for its turn, of which owners have as many as each other; when the
// wait is too long, or too many wait already, it is exhausted.
type Limiter struct {
	turns *quota.Turns
	most  int
	each  int
	wait  time.Duration
}

// NewLimiter makes a limiter that tells its registry how full it is.
func NewLimiter(opts LimiterOptions) *Limiter {
	each := cmp.Or(opts.Each, opts.Most)
	l := &Limiter{turns: quota.NewTurns(opts.Most, each), most: opts.Most, each: each, wait: opts.Wait}
	labels := prometheus.Labels{"kind": opts.Kind}
	gauge := func(name, help string, value func() int) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: labels},
			func() float64 { return float64(value()) })
	}
	opts.Registry.MustRegister(
		gauge("sandgate_http_slots_held", "Requests that hold a slot, by kind.",
			func() int { held, _ := l.turns.Load(); return held }),
		gauge("sandgate_http_slots_waiting", "Requests that wait for a slot, by kind.",
			func() int { _, waiting := l.turns.Load(); return waiting }),
	)
	return l
}

// Admit gives a handler a slot for each request. It is taken before anything of
// the body is read, so that whoever waits costs next to nothing.
func (l *Limiter) Admit(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		ctx := c.Request().Context()
		if err := l.enter(ctx); err != nil {
			return err
		}
		defer l.leave(ctx)
		return next(c)
	}
}

// enter waits for a slot.
func (l *Limiter) enter(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(ctx, l.wait)
	defer cancel()
	err := l.turns.Enter(waiting, ownerIn(ctx))
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil && !errors.Is(err, quota.ErrFull): // the client left, or the gateway stops
		return ctx.Err()
	}
	return sandboxclient.Errorf(sandboxclient.CodeExhausted,
		"As many requests of this kind are being answered as may be, %d in all and %d of one owner's; try again soon", l.most, l.each)
}

func (l *Limiter) leave(ctx context.Context) { l.turns.Leave(ownerIn(ctx)) }

// ownerIn names whose turn it is. Those whom nobody knows share one's.
func ownerIn(ctx context.Context) string {
	id, _ := identity.Of(ctx)
	return id.Account()
}
