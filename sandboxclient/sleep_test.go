package sandboxclient

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// dreaming runs a test on a clock of its own, with a reaping client on an engine
// whose sandboxes can sleep.
func dreaming(t *testing.T, opts Options, f func(t *testing.T, c *Client, d *dozing, m *memory)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d, m := newDozing(), newMemory()
		c, _ := d.client(t, opts, m)
		f(t, c, d, m)
	})
}

// client gives a client that reaps until it is closed with the test, or killed
// by the function beside it.
func (d *dozing) client(t *testing.T, opts Options, m *memory) (_ *Client, kill func()) {
	t.Helper()
	opts.Driver, opts.Records, opts.Key = d, m, []byte("key")
	opts.Logger = slog.New(slog.NewTextHandler(t.Output(), nil))
	c := New(opts)
	ctx, stop := context.WithCancel(context.Background())
	var reaping sync.WaitGroup
	reaping.Go(func() { c.Reap(ctx) })
	killed := false
	kill = func() {
		killed = true
		stop()
		reaping.Wait()
	}
	t.Cleanup(func() {
		stop()
		reaping.Wait()
		if !killed {
			_ = c.Close(context.Background())
		}
	})
	return c, kill
}

func book(name string) Ref { return Ref{Owner: "local", App: "notebook", Name: name} }

func TestSleep_keepsWhatIsInMemory(t *testing.T) {
	dreaming(t, Options{}, func(t *testing.T, c *Client, d *dozing, _ *memory) {
		s := c.Sandbox(scratch)
		mustRun(t, s, "inc")
		time.Sleep(11 * time.Minute)
		if _, destroys, running := d.count(); running != 0 || destroys != 0 || s.State() != StateHibernated {
			t.Fatalf("%d run, %d were destroyed, state %q", running, destroys, s.State())
		}
		woken := mustRun(t, s, "inc")
		again := mustRun(t, s, "inc")
		if woken.Stdout != "2" || woken.Start != StartWoken || woken.Generation != 1 || woken.Restart != "" {
			t.Errorf("woken: %+v", woken)
		}
		if again.Stdout != "3" || again.Start != StartRunning {
			t.Errorf("after that: %+v", again)
		}
	})
}

func TestSleep_wakesInOneFlight(t *testing.T) {
	dreaming(t, Options{}, func(t *testing.T, c *Client, d *dozing, _ *memory) {
		s := c.Sandbox(scratch)
		mustRun(t, s, "inc")
		if err := s.Hibernate(t.Context()); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		starts := make(chan string, 50)
		for range 50 {
			wg.Go(func() { starts <- mustRun(t, s, "inc").Start })
		}
		wg.Wait()
		close(starts)
		woken := 0
		for start := range starts {
			if start == StartWoken {
				woken++
			} else if start != StartRunning {
				t.Errorf("a cell is told %q", start)
			}
		}
		if creates, _, _ := d.count(); woken != 1 || creates != 1 {
			t.Errorf("%d cells are told that it woke, %d sandboxes were created", woken, creates)
		}
		if run := mustRun(t, s, "inc"); run.Stdout != "52" {
			t.Errorf("counted to %s", run.Stdout)
		}
	})
}

func TestSleep_whatCannotWakeStartsAnewAndSaysWhy(t *testing.T) {
	dreaming(t, Options{}, func(t *testing.T, c *Client, d *dozing, _ *memory) {
		s := c.Sandbox(scratch)
		mustRun(t, s, "inc")
		if err := s.Hibernate(t.Context()); err != nil {
			t.Fatal(err)
		}
		d.forgetful = "a library was replaced"
		run := mustRun(t, s, "inc")
		if run.Stdout != "1" || run.Start != StartRestarted || run.Restart != d.forgetful || run.Generation != 2 {
			t.Errorf("%+v", run)
		}
	})
}

func TestSleep_whatCannotWakeNowSleepsOn(t *testing.T) {
	dreaming(t, Options{}, func(t *testing.T, c *Client, d *dozing, _ *memory) {
		s := c.Sandbox(scratch)
		mustRun(t, s, "inc")
		if err := s.Hibernate(t.Context()); err != nil {
			t.Fatal(err)
		}
		d.stuck = true
		if _, err := s.RunCode(t.Context(), "inc", RunOptions{}); CodeOf(err) != CodeUnavailable {
			t.Errorf("while nothing can be woken: %v", err)
		}
		if s.State() != StateHibernated {
			t.Errorf("state %q", s.State())
		}
		d.stuck = false
		if run := mustRun(t, s, "inc"); run.Stdout != "2" || run.Start != StartWoken {
			t.Errorf("%+v", run)
		}
	})
}

func TestSleep_wokenButSilentStartsAnew(t *testing.T) {
	dreaming(t, Options{}, func(t *testing.T, c *Client, d *dozing, _ *memory) {
		s := c.Sandbox(scratch)
		mustRun(t, s, "inc")
		if err := s.Hibernate(t.Context()); err != nil {
			t.Fatal(err)
		}
		d.dead = true
		go func() {
			time.Sleep(wokenTime)
			d.mu.Lock()
			defer d.mu.Unlock()
			d.dead = false
		}()
		if run := mustRun(t, s, "inc"); run.Start != StartRestarted || run.Stdout != "1" {
			t.Errorf("%+v", run)
		}
	})
}

func TestSleep_refusedRunsOn(t *testing.T) {
	dreaming(t, Options{}, func(t *testing.T, c *Client, d *dozing, _ *memory) {
		s := c.Sandbox(scratch)
		mustRun(t, s, "inc")
		d.refuse = true
		if err := s.Hibernate(t.Context()); CodeOf(err) != CodeUnavailable {
			t.Errorf("hibernate: %v", err)
		}
		if d.boxes[s.ID()].settled.Load() {
			t.Error("it runs as if it slept")
		}
		time.Sleep(time.Hour)
		if run := mustRun(t, s, "inc"); run.Stdout != "2" || run.Start != StartRunning {
			t.Errorf("%+v", run)
		}
		if err := c.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if _, _, running := d.count(); running != 0 {
			t.Error("the close left it running")
		}
	})
}

// What runs on, under this gateway or the next, has its last use written down, by
// which it is kept, and no other: nobody used it since.
func TestSleep_refusedOrTakenOverIsRecorded(t *testing.T) {
	dreaming(t, Options{}, func(t *testing.T, c *Client, d *dozing, m *memory) {
		s := c.Sandbox(scratch)
		mustRun(t, s, "wait")
		used := time.Now()
		isUsed := func(c *Client, what string) {
			time.Sleep(time.Minute)
			info, err := c.Sandbox(scratch).Info(t.Context())
			if last := m.lastUsed(s.ID()); err != nil || !last.Equal(used) || !info.LastUsed.Equal(used) {
				t.Errorf("%s: used %s before, says the record, %s before, the list: %v", what, used.Sub(last), used.Sub(info.LastUsed), err)
			}
			if left := time.Until(info.SleepsAt); info.State != StateRunning || left != c.opts.SleepAfter-time.Minute {
				t.Errorf("%s: it is %s, and sleeps in %s", what, info.State, left)
			}
		}
		time.Sleep(time.Minute)
		d.refuse = true
		if err := s.Hibernate(t.Context()); CodeOf(err) != CodeUnavailable {
			t.Fatal(err)
		}
		isUsed(c, "refused")
		next, _ := d.client(t, Options{}, m)
		d.adopt(t, next)
		isUsed(next, "taken over")
	})
}

func TestSleep_lostOnTheWayStartsAnew(t *testing.T) {
	dreaming(t, Options{}, func(t *testing.T, c *Client, d *dozing, _ *memory) {
		s := c.Sandbox(scratch)
		mustRun(t, s, "inc")
		d.loses = true
		if err := s.Hibernate(t.Context()); err == nil {
			t.Error("the loss is not told")
		}
		if run := mustRun(t, s, "inc"); run.Stdout != "1" || run.Start != StartRestarted {
			t.Errorf("%+v", run)
		}
	})
}

func TestSleep_isNotForTheEphemeral(t *testing.T) {
	dreaming(t, Options{}, func(t *testing.T, c *Client, d *dozing, _ *memory) {
		s := c.Sandbox(Ref{Owner: "local", App: "x", Name: "once", Ephemeral: true})
		mustRun(t, s, "inc")
		time.Sleep(11 * time.Minute)
		if d.sleepers() != 0 || !d.wasRemoved(s.ID()) {
			t.Errorf("%d sleep, removed %v", d.sleepers(), d.wasRemoved(s.ID()))
		}
	})
}

func TestSleep_byRequestNotWhileItWorks(t *testing.T) {
	dreaming(t, Options{}, func(t *testing.T, c *Client, d *dozing, _ *memory) {
		s := c.Sandbox(scratch)
		if err := s.Hibernate(t.Context()); err != nil {
			t.Errorf("of nothing: %v", err)
		}
		var wg sync.WaitGroup
		wg.Go(func() { mustRun(t, s, "wait") })
		time.Sleep(time.Second)
		if err := s.Hibernate(t.Context()); CodeOf(err) != CodeConflict {
			t.Errorf("while a cell runs: %v", err)
		}
		wg.Wait()
		d.boxes[s.ID()].busy.Store(1)
		if err := s.Hibernate(t.Context()); CodeOf(err) != CodeConflict {
			t.Errorf("while something detached runs: %v", err)
		}
	})
}

// Who cannot say that it does nothing may work; one that never answers may sleep.
func TestSleep_byRequestOfOneThatDoesNotAnswer(t *testing.T) {
	dreaming(t, Options{}, func(t *testing.T, c *Client, d *dozing, _ *memory) {
		s := c.Sandbox(scratch)
		mustRun(t, s, "inc")
		d.box(s.ID()).silent.Store(true)
		ctx, hangUp := context.WithTimeout(t.Context(), aliveTimeout/2)
		defer hangUp()
		if err := s.Hibernate(ctx); CodeOf(err) != CodeTimeout {
			t.Errorf("for somebody who left: %v", err)
		}
		if s.State() != StateRunning {
			t.Errorf("it is %s without an answer", s.State())
		}
		if err := s.Hibernate(t.Context()); err != nil || s.State() != StateHibernated {
			t.Errorf("after %d questions: %v, and it is %s", maxSilence, err, s.State())
		}
	})
}

func TestSleep_interruptAndRestartWake(t *testing.T) {
	dreaming(t, Options{}, func(t *testing.T, c *Client, d *dozing, _ *memory) {
		s := c.Sandbox(scratch)
		for _, do := range []func(context.Context, string) error{s.InterruptContext, s.DeleteContext} {
			mustRun(t, s, "inc")
			if err := s.Hibernate(t.Context()); err != nil {
				t.Fatal(err)
			}
			_ = do(t.Context(), "default-python")
			if s.State() != StateRunning {
				t.Errorf("state %q", s.State())
			}
		}
	})
}

func TestSleep_executionsAreFoundByALaterGateway(t *testing.T) {
	dreaming(t, Options{}, func(t *testing.T, c *Client, d *dozing, m *memory) {
		run := mustRun(t, c.Sandbox(scratch), "inc")
		if err := c.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, _, running := d.count(); running != 0 || d.sleepers() != 1 {
			t.Fatalf("%d run, %d sleep", running, d.sleepers())
		}
		next, _ := d.client(t, Options{}, m)
		d.adopt(t, next)
		if _, err := next.find("local", run.Execution); err != nil {
			t.Error(err)
		}
		if run := mustRun(t, next.Sandbox(scratch), "inc"); run.Stdout != "2" || run.Start != StartWoken {
			t.Errorf("%+v", run)
		}
	})
}

// A start that finds the gateway stopping is no failure to stop.
func TestClose_aStartThatComesTooLate(t *testing.T) {
	dreaming(t, Options{MaxRunning: 1, QueueTime: time.Hour}, func(t *testing.T, c *Client, _ *dozing, _ *memory) {
		var wg sync.WaitGroup
		for _, ref := range []Ref{book("busy"), scratch} {
			wg.Go(func() { _, _ = c.Sandbox(ref).RunCode(t.Context(), "wait", RunOptions{}) })
			time.Sleep(time.Second)
		}
		if err := c.Close(t.Context()); err != nil {
			t.Error(err)
		}
		wg.Wait()
		time.Sleep(time.Minute) // until the cell that was cut off has ended
	})
}

// TestClose_beginsNothingAfterItsTime: what a gateway has no time to put to sleep is
// better left running than cut off half-way.
func TestClose_beginsNothingAfterItsTime(t *testing.T) {
	dreaming(t, Options{}, func(t *testing.T, c *Client, d *dozing, _ *memory) {
		for i := range 3 * atOnce {
			mustRun(t, c.Sandbox(book(fmt.Sprint(i))), "inc")
		}
		d.writing = time.Minute
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute+30*time.Second)
		defer cancel()
		began := time.Now()
		if err := c.Close(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 91*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		time.Sleep(5 * time.Minute)
		if _, _, running := d.count(); running != atOnce || d.sleepers() != 2*atOnce {
			t.Errorf("%d run and %d sleep, where %d begin to sleep in a minute", running, d.sleepers(), atOnce)
		}
	})
}

// A gateway may have been killed between a memory that is whole and the end of what
// it is of, which the driver could not bring about since.
func TestSleep_whatIsLeftOfASleeperCostsNoMemory(t *testing.T) {
	dreaming(t, Options{}, func(t *testing.T, c *Client, d *dozing, m *memory) {
		s := c.Sandbox(scratch)
		mustRun(t, s, "inc")
		if err := c.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		d.mu.Lock()
		d.boot(Spec{ID: s.ID()}).kill()
		d.mu.Unlock()
		next, _ := d.client(t, Options{}, m)
		d.adopt(t, next)
		time.Sleep(time.Hour) // the reconciliation sees it as well
		if d.sleepers() != 1 {
			t.Fatal("its memory was forgotten")
		}
		d.mu.Lock()
		delete(d.boxes, s.ID())
		d.mu.Unlock()
		if run := mustRun(t, next.Sandbox(scratch), "inc"); run.Stdout != "2" || run.Start != StartWoken {
			t.Errorf("%+v", run)
		}
	})
}

func TestPressure_theLongestIdleMakesRoom(t *testing.T) {
	for name, opts := range map[string]Options{
		"of number": {MaxRunning: 3},
		"of memory": {MaxMemory: 5 * freshBytes},
		"of share":  {Share: func(string) Share { return Share{Running: 3} }},
	} {
		t.Run(name, func(t *testing.T) {
			dreaming(t, opts, func(t *testing.T, c *Client, d *dozing, _ *memory) {
				d.usage = freshBytes
				for i := range 20 {
					mustRun(t, c.Sandbox(book(fmt.Sprint(i))), "inc")
					time.Sleep(time.Second)
				}
				_, _, running := d.count()
				if running > 4 || d.sleepers() < 16 {
					t.Errorf("%d run, %d sleep", running, d.sleepers())
				}
				if s := c.Sandbox(book("19")); s.State() != StateRunning {
					t.Errorf("the newest is %q", s.State())
				}
				for i := range 20 {
					if run := mustRun(t, c.Sandbox(book(fmt.Sprint(i))), "inc"); run.Stdout != "2" {
						t.Errorf("notebook %d counts %s", i, run.Stdout)
					}
				}
			})
		})
	}
}

func TestPressure_whoWaitsIsLetInWhenOneGetsIdle(t *testing.T) {
	dreaming(t, Options{MaxRunning: 1, QueueTime: 10 * time.Minute}, func(t *testing.T, c *Client, d *dozing, _ *memory) {
		var wg sync.WaitGroup
		wg.Go(func() { mustRun(t, c.Sandbox(book("busy")), "wait") })
		time.Sleep(time.Second)
		began := time.Now()
		mustRun(t, c.Sandbox(scratch), "inc")
		if took := time.Since(began); took > 61*time.Second || d.sleepers() != 1 {
			t.Errorf("it waited %s, %d sleep", took, d.sleepers())
		}
		wg.Wait()
	})
}

// An execution whose sandbox sleeps, and finds no room to wake, is not gone.
func TestPressure_anExecutionIsThereThoughItCannotBeReached(t *testing.T) {
	dreaming(t, Options{MaxRunning: 1, QueueTime: time.Second}, func(t *testing.T, c *Client, d *dozing, _ *memory) {
		run := mustRun(t, c.Sandbox(scratch), "inc")
		var wg sync.WaitGroup
		wg.Go(func() { mustRun(t, c.Sandbox(book("busy")), "wait") })
		time.Sleep(5 * time.Second)
		if d.sleepers() != 1 {
			t.Fatalf("%d sleep", d.sleepers())
		}
		_, err := c.Execution(t.Context(), "local", run.Execution)
		if CodeOf(err) != CodeExhausted {
			t.Errorf("asked for: %v", err)
		}
		if err := c.CancelExecution(t.Context(), "local", run.Execution); CodeOf(err) != CodeExhausted {
			t.Errorf("canceled: %v", err)
		}
		for _, err := range c.FollowExecution(t.Context(), "local", run.Execution, 0) {
			if CodeOf(err) != CodeExhausted {
				t.Errorf("followed: %v", err)
			}
		}
		wg.Wait()
	})
}

func TestPressure_refusesWhenAllWork(t *testing.T) {
	for name, opts := range map[string]Options{"of number": {MaxRunning: 2}, "of memory": {MaxMemory: 3 * freshBytes}} {
		t.Run(name, func(t *testing.T) {
			dreaming(t, opts, func(t *testing.T, c *Client, d *dozing, _ *memory) {
				d.usage = freshBytes
				var wg sync.WaitGroup
				for i := range 2 {
					wg.Go(func() { mustRun(t, c.Sandbox(book(fmt.Sprint(i))), "wait") })
				}
				time.Sleep(time.Second)
				_, err := c.Sandbox(scratch).RunCode(t.Context(), "inc", RunOptions{})
				var e *Error
				if CodeOf(err) != CodeExhausted || !errors.As(err, &e) || e.RetryAfter == 0 {
					t.Errorf("while two work: %v", err)
				}
				wg.Wait()
				mustRun(t, c.Sandbox(scratch), "inc")
			})
		})
	}
}

func TestRetention_destroysWhatNobodyUses(t *testing.T) {
	dreaming(t, Options{Retention: 24 * time.Hour}, func(t *testing.T, c *Client, d *dozing, m *memory) {
		used, unused := c.Sandbox(book("used")), c.Sandbox(book("unused"))
		mustRun(t, unused, "inc")
		for range 5 {
			mustRun(t, used, "inc")
			time.Sleep(6 * time.Hour)
		}
		if !d.wasRemoved(unused.ID()) || d.wasRemoved(used.ID()) {
			t.Error("not the unused one alone was removed")
		}
		if records, _ := m.ListSandboxes(t.Context(), Which{}); len(records) != 1 {
			t.Errorf("records %v", records)
		}
		if run := mustRun(t, unused, "inc"); run.Stdout != "1" || run.Start != StartFresh || run.Generation != 1 {
			t.Errorf("%+v", run)
		}
	})
}

// A want is what the model says of a notebook.
type want struct {
	value      int  // what the next "inc" prints, less one
	exists     bool // it has a workspace
	mayBeLost  bool // its memory is gone
	generation int
}

// TestLife_asTheModel drives notebooks through random lives and compares every
// answer with what a small model says.
func TestLife_asTheModel(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { life(t, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

func life(t *testing.T, random *rand.Rand) {
	d, m := newDozing(), newMemory()
	opts := Options{MaxRunning: 2, Retention: 24 * time.Hour}
	c, kill := d.client(t, opts, m)
	model := map[string]*want{"a": {}, "b": {}, "c": {}}
	names := []string{"a", "b", "c"}
	for range 60 {
		name := names[random.IntN(len(names))]
		w, s := model[name], c.Sandbox(book(name))
		step := random.IntN(12)
		t.Logf("%s: step %d of %+v, which is %s", name, step, *w, s.State())
		switch step {
		case 0, 1, 2, 3:
			w.check(t, s)
		case 4:
			time.Sleep(time.Duration(random.IntN(20)) * time.Minute)
		case 5:
			_ = s.Hibernate(t.Context())
		case 6:
			if err := s.Destroy(t.Context(), KeepWorkspace); err != nil {
				t.Fatal(err)
			}
			w.forget()
		case 7:
			if err := s.Destroy(t.Context(), RemoveWorkspace); err != nil {
				t.Fatal(err)
			}
			*w = want{}
		case 8: // a crash of the sandbox
			if d.crash(s.ID()) {
				w.forget()
			}
		case 9: // the gateway stops, and another starts
			kill()
			_ = c.Close(t.Context()) // it tells of those that were dead before
			if _, _, running := d.count(); running != 0 {
				t.Fatal("a gateway that has stopped leaves sandboxes running")
			}
			c, kill = d.client(t, opts, m)
			d.adopt(t, c)
		case 10: // the gateway is killed, on a machine that is slow after that
			kill()
			c, kill = d.client(t, opts, m)
			d.silence(true)
			time.AfterFunc(5*time.Second, func() { d.silence(false) })
			d.adopt(t, c)
		case 11:
			d.forgetful = "the library of Alexandria"
			if _, err := d.Asleep(s.ID()); err == nil {
				w.forget()
			}
			w.check(t, s)
			d.forgetful = ""
		}
		synctest.Wait()
		if _, _, running := d.count(); running > 2 {
			t.Fatalf("%d sandboxes run, two may", running)
		}
	}
}

func (d *dozing) adopt(t *testing.T, c *Client) {
	t.Helper()
	if err := c.Adopt(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// crash ends a sandbox behind everybody's back, and says whether it ran.
func (d *dozing) crash(id ID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	b := d.boxes[id]
	if b != nil {
		b.kill()
	}
	return b != nil
}

func (w *want) forget() {
	w.value = 0
	w.mayBeLost = w.exists
}

// check runs a cell and compares.
func (w *want) check(t *testing.T, s *Sandbox) {
	t.Helper()
	run := mustRun(t, s, "inc")
	fresh := !w.exists
	if fresh || w.mayBeLost {
		w.generation++
	}
	w.value++
	switch {
	case run.Stdout != strconv.Itoa(w.value) || run.Generation != w.generation:
		t.Fatalf("%s: %+v, the model says %+v", s.ref.Name, run, *w)
	case fresh && run.Start != StartFresh,
		!fresh && w.mayBeLost && run.Start != StartRestarted,
		!fresh && !w.mayBeLost && run.Start != StartRunning && run.Start != StartWoken:
		t.Fatalf("%s is told %q, the model says %+v", s.ref.Name, run.Start, *w)
	case (run.Restart == "") != (run.Start != StartRestarted):
		t.Fatalf("%s: %q because %q", s.ref.Name, run.Start, run.Restart)
	}
	w.exists, w.mayBeLost = true, false
}
