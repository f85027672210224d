package sandboxclient

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// pooling runs a test with a client that keeps a pool.
func pooling(t *testing.T, size int, f func(t *testing.T, c *Client, d *dozing)) {
	t.Helper()
	opts := Options{Pool: size, Warmth: Warmth{Apps: []string{"notebook"}}, MaxRunning: 2000}
	dreaming(t, opts, func(t *testing.T, c *Client, d *dozing, _ *memory) {
		ctx, stop := context.WithCancel(t.Context())
		var preparing sync.WaitGroup
		preparing.Go(func() { c.Prepare(ctx) })
		f(t, c, d)
		stop()
		preparing.Wait()
	})
}

// taken is how many sandboxes were handed out.
func (d *dozing) taken() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.assigned
}

func TestPool_isHandedOutAndFilledAgain(t *testing.T) {
	pooling(t, 3, func(t *testing.T, c *Client, d *dozing) {
		time.Sleep(time.Minute)
		if c.pooled() != 3 {
			t.Fatalf("%d wait", c.pooled())
		}
		for i := range 10 {
			began := time.Now()
			run := mustRun(t, c.Sandbox(book(fmt.Sprint(i))), "inc")
			if run.Stdout != "1" || run.Start != StartFresh || run.Generation != 1 || time.Since(began) >= d.bootTime {
				t.Errorf("%+v after %v", run, time.Since(began))
			}
			time.Sleep(time.Minute)
		}
		if d.taken() != 10 || c.pooled() != 3 {
			t.Errorf("%d were taken, %d wait", d.taken(), c.pooled())
		}
		time.Sleep(time.Hour)
		if c.pooled() != 3 || d.sleepers() != 10 {
			t.Errorf("an hour later %d wait, %d sleep", c.pooled(), d.sleepers())
		}
	})
}

func TestPool_everySandboxOnce(t *testing.T) {
	pooling(t, 50, func(t *testing.T, c *Client, d *dozing) {
		time.Sleep(time.Minute)
		var wg sync.WaitGroup
		for i := range 1000 {
			wg.Go(func() {
				if run := mustRun(t, c.Sandbox(book(fmt.Sprint(i))), "inc"); run.Stdout != "1" {
					t.Errorf("notebook %d is not the first in its sandbox: %+v", i, run)
				}
			})
		}
		wg.Wait()
		if d.taken() < 50 {
			t.Errorf("%d were taken", d.taken())
		}
	})
}

func TestPool_theDeadAreNotHandedOut(t *testing.T) {
	pooling(t, 2, func(t *testing.T, c *Client, d *dozing) {
		time.Sleep(time.Minute)
		for _, l := range c.all() {
			d.kill(l.id)
		}
		synctest.Wait()
		if run := mustRun(t, c.Sandbox(scratch), "inc"); run.Stdout != "1" || run.Start != StartFresh {
			t.Errorf("%+v", run)
		}
	})
}

func TestPool_isForThoseWithoutAWorkspace(t *testing.T) {
	pooling(t, 2, func(t *testing.T, c *Client, d *dozing) {
		time.Sleep(time.Minute)
		s := c.Sandbox(scratch)
		mustRun(t, s, "inc")
		if err := s.Destroy(t.Context(), KeepWorkspace); err != nil {
			t.Fatal(err)
		}
		if run := mustRun(t, s, "inc"); run.Start != StartRestarted || d.taken() != 1 {
			t.Errorf("%+v, %d were taken", run, d.taken())
		}
		mustRun(t, c.Sandbox(Ref{Owner: "local", App: "files", Name: "x"}), "inc")
		if d.taken() != 1 {
			t.Error("an app that does not begin warm was given one")
		}
	})
}

func TestPool_goesFirstWhenRoomIsShort(t *testing.T) {
	opts := Options{Pool: 2, Warmth: Warmth{Apps: []string{"notebook"}}, MaxRunning: 3}
	dreaming(t, opts, func(t *testing.T, c *Client, d *dozing, _ *memory) {
		c.fill(t.Context())
		if c.pooled() != 2 {
			t.Fatalf("%d wait", c.pooled())
		}
		mustRun(t, c.Sandbox(Ref{Owner: "local", App: "files", Name: "a"}), "inc")
		mustRun(t, c.Sandbox(Ref{Owner: "local", App: "files", Name: "b"}), "inc")
		if d.sleepers() != 0 || c.pooled() != 1 {
			t.Errorf("%d sleep, %d wait", d.sleepers(), c.pooled())
		}
	})
}

// TestPool_isFilledFromWhatIsFree: nobody's notebook sleeps for a sandbox that
// nobody has asked for, nor does one of the pool end for another.
func TestPool_isFilledFromWhatIsFree(t *testing.T) {
	opts := Options{Pool: 3, Warmth: Warmth{Apps: []string{"notebook"}}, MaxRunning: 3, SleepAfter: 24 * time.Hour}
	dreaming(t, opts, func(t *testing.T, c *Client, d *dozing, _ *memory) {
		for i := range 2 {
			mustRun(t, c.Sandbox(book(fmt.Sprint(i))), "inc")
		}
		ctx, stop := context.WithTimeout(t.Context(), 10*time.Minute)
		defer stop()
		c.Prepare(ctx)
		if creates, _, _ := d.count(); c.pooled() != 1 || d.sleepers() != 0 || creates != 3 {
			t.Errorf("%d wait, %d notebooks sleep for them, %d sandboxes were made", c.pooled(), d.sleepers(), creates)
		}
	})
}
