package awake

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

var errOver = errors.New("over")

// asleep lets a process sleep, as timers see it: its clock goes on at once.
func asleep(c *Clock, d time.Duration) {
	c.Ask(func() {
		c.Ask(func() {})
		c.Slept(d)
	})
	time.Sleep(d)
	synctest.Wait()
}

func TestWithTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Clock
		began := time.Now()
		ctx, cancel := c.WithTimeout(t.Context(), time.Second, errOver)
		defer cancel()
		<-ctx.Done()
		if took := time.Since(began); took != time.Second || !errors.Is(context.Cause(ctx), errOver) {
			t.Errorf("ended after %v: %v", took, context.Cause(ctx))
		}
	})
}

func TestWithTimeout_doesNotCountSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Clock
		elapsed := c.Stopwatch()
		ctx, cancel := c.WithTimeout(t.Context(), 10*time.Second, errOver)
		defer cancel()
		time.Sleep(4 * time.Second)
		for range 3 {
			asleep(&c, time.Hour)
			if ctx.Err() != nil || elapsed() != 4*time.Second {
				t.Fatalf("after a sleep: %v, %v elapsed", ctx.Err(), elapsed())
			}
		}
		woke := time.Now()
		<-ctx.Done()
		if took := time.Since(woke); took != 6*time.Second {
			t.Errorf("it went on for %v", took)
		}
	})
}

// Whoever asks how long it took may be the first to run after a sleep.
func TestStopwatch_learnsOfASleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Clock
		c.Ask(func() {
			c.Ask(func() {})
			c.Slept(time.Hour)
		})
		elapsed := c.Stopwatch()
		time.Sleep(time.Hour + time.Second)
		for range 2 {
			if got := elapsed(); got != time.Second {
				t.Errorf("%v elapsed", got)
			}
		}
	})
}

func TestAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Clock
		began := time.Now()
		over := c.After(time.Minute)
		asleep(&c, time.Hour)
		<-over
		if took := time.Since(began); took != time.Hour+time.Minute {
			t.Errorf("it took %v", took)
		}
	})
}

func TestWithTimeout_canceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Clock
		ctx, cancel := c.WithTimeout(t.Context(), time.Second, errOver)
		cancel()
		cancel()
		time.Sleep(time.Minute)
		if !errors.Is(context.Cause(ctx), context.Canceled) {
			t.Errorf("it ended with %v", context.Cause(ctx))
		}
	})
}

// More sleep than there was time costs the process no more than that time.
func TestStopwatch_isNeverNegative(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Clock
		elapsed := c.Stopwatch()
		calls := 0
		timer := c.AfterFunc(time.Second, func() { calls++ })
		c.Slept(time.Hour)
		c.Slept(-time.Hour)
		if elapsed() != 0 {
			t.Errorf("%v elapsed", elapsed())
		}
		timer.Stop()
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		if calls != 0 {
			t.Errorf("called %d times after Stop", calls)
		}
	})
}
