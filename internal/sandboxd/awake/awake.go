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

// catchUp learns of a sleep that has ended.
func (c *Clock) catchUp() {
	if look := c.look.Load(); look != nil {
		(*look)()
	}
}

// A moment is one from which time awake is counted.
type moment struct {
	at    time.Time
	slept int64 // by then
}

func (c *Clock) now() moment { return moment{time.Now(), c.slept.Load()} }

// since gives the time awake, as far as is known of sleeps.
func (c *Clock) since(m moment) time.Duration {
	asleep := time.Duration(c.slept.Load() - m.slept)
	return max(time.Since(m.at)-asleep, 0)
}

// noticeable is how long something has to take for it to be worth a look whether
// the process was asleep meanwhile.
const noticeable = time.Second

// Stopwatch gives the time awake since the call.
func (c *Clock) Stopwatch() (elapsed func() time.Duration) {
	began := c.now()
	return func() time.Duration {
		if time.Since(began.at) > noticeable {
			c.catchUp()
		}
		return c.since(began)
	}
}

// After is sent to after so much time awake.
func (c *Clock) After(d time.Duration) <-chan time.Time {
	over := make(chan time.Time, 1)
	c.AfterFunc(d, func() { over <- time.Now() })
	return over
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
	clock *Clock
	began moment
	d     time.Duration
	f     func()

	mu      sync.Mutex
	timer   *time.Timer
	stopped bool
}

// AfterFunc calls f after so much time awake, in a goroutine of its own, unless
// the timer is stopped before.
func (c *Clock) AfterFunc(d time.Duration, f func()) *Timer {
	t := &Timer{clock: c, began: c.now(), d: d, f: f}
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
	t.clock.catchUp()
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
	left := t.d - t.clock.since(t.began)
	if left > 0 {
		t.timer.Reset(left)
	}
	return left <= 0
}
