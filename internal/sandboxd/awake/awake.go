// Package awake counts the time in which a sandbox is awake.
//
// A sandbox can be put to sleep between any two instructions. When it is woken,
// every clock in it has gone on as if nobody had run for long, and every timer
// whose time has come meanwhile fires at once. What a user is promised, a cell's
// timeout say, must not end like that.
package awake

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// A Clock counts time awake; the zero value has never slept.
type Clock struct {
	slept atomic.Int64
	look  atomic.Pointer[func()]
}

// Ask has look called before a time is over: it must not return before Slept has
// been told of a sleep that ended.
func (c *Clock) Ask(look func()) { c.look.Store(&look) }

// Slept tells that the process was asleep.
func (c *Clock) Slept(d time.Duration) { c.slept.Add(int64(max(d, 0))) }

// Stopwatch gives the time awake since the call.
func (c *Clock) Stopwatch() (elapsed func() time.Duration) {
	began, before := time.Now(), c.slept.Load()
	return func() time.Duration {
		return max(time.Since(began)-time.Duration(c.slept.Load()-before), 0)
	}
}

// WithTimeout gives a context that ends with the cause after so much time awake.
func (c *Clock) WithTimeout(parent context.Context, d time.Duration, cause error) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	t := c.AfterFunc(d, func() { cancel(cause) })
	return ctx, func() {
		t.Stop()
		cancel(context.Canceled)
	}
}

// A Timer is to call a function.
type Timer struct {
	clock   *Clock
	d       time.Duration
	elapsed func() time.Duration
	f       func()

	mu      sync.Mutex
	timer   *time.Timer
	stopped bool
}

// AfterFunc calls f after so much time awake, in a goroutine of its own, unless
// the timer is stopped before.
func (c *Clock) AfterFunc(d time.Duration, f func()) *Timer {
	t := &Timer{clock: c, d: d, elapsed: c.Stopwatch(), f: f}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.timer = time.AfterFunc(d, t.fire)
	return t
}

// Stop keeps the function from being called, if that has not begun.
func (t *Timer) Stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopped = true
	t.timer.Stop()
}

// fire calls the function, or waits for the rest of the time.
func (t *Timer) fire() {
	if look := t.clock.look.Load(); look != nil {
		(*look)()
	}
	if t.over() {
		t.f()
	}
}

func (t *Timer) over() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped {
		return false
	}
	left := t.d - t.elapsed()
	if left > 0 {
		t.timer.Reset(left)
	}
	return left <= 0
}
