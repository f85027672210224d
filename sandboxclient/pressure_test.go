package sandboxclient

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestPressure_whoWaitsTakesNoMemory: a crowd that comes at once must not be in its
// own way.
func TestPressure_whoWaitsTakesNoMemory(t *testing.T) {
	dreaming(t, Options{MaxMemory: 4 * freshBytes}, func(t *testing.T, c *Client, d *dozing, _ *memory) {
		d.usage = freshBytes
		var wg sync.WaitGroup
		for i := range 30 {
			wg.Go(func() { mustRun(t, c.Sandbox(book(fmt.Sprint(i))), "inc") })
		}
		wg.Wait()
		if _, _, running := d.count(); running > 4 {
			t.Errorf("%d run in the memory of four", running)
		}
	})
}

// TestPressure_whatWakesTakesWhatItSleptWith: a crowd that comes back at once has
// the memory that it left with.
func TestPressure_whatWakesTakesWhatItSleptWith(t *testing.T) {
	for name, opts := range map[string]Options{"three": {MaxMemory: 3 << 30}, "none but one": {MaxMemory: 256 << 20}} {
		dreaming(t, opts, func(t *testing.T, c *Client, d *dozing, _ *memory) {
			d.usage = 800 << 20
			books := make([]*Sandbox, 10)
			for i := range books {
				books[i] = c.Sandbox(book(fmt.Sprint(i)))
				mustRun(t, books[i], "inc")
				if err := books[i].Hibernate(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			d.reading = 2 * time.Second
			var back sync.WaitGroup
			for _, s := range books {
				back.Go(func() { _, _ = s.RunCode(t.Context(), "wait", RunOptions{}) })
			}
			time.Sleep(time.Second)
			most := max(1, opts.MaxMemory/d.usage)
			if n := int64(10 - d.sleepers()); n != most {
				t.Errorf("%s: %d wake in the memory of %d", name, n, most)
			}
			time.Sleep(5 * time.Second)
			if _, _, running := d.count(); int64(running) != most {
				t.Errorf("%s: %d run in the memory of %d", name, running, most)
			}
			back.Wait()
		})
	}
}

// TestPressure_whatCannotSleepKeepsItsVariables: who waits comes after whoever was
// there a moment ago.
func TestPressure_whatCannotSleepKeepsItsVariables(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := limited(t, Options{MaxRunning: 1})
		mustRun(t, c.Sandbox(named("a")), "inc")
		if err := c.Sandbox(named("b")).Wake(t.Context()); CodeOf(err) != CodeExhausted {
			t.Errorf("beside one that was just used: %v", err)
		}
		if run := mustRun(t, c.Sandbox(named("a")), "inc"); run.Stdout != "2" {
			t.Errorf("it counts %s", run.Stdout)
		}
		time.Sleep(10 * time.Minute)
		mustRun(t, c.Sandbox(named("b")), "inc")
	})
}

// TestPressure_theDeadHoldNoPlaces: one that dies while nobody uses it is found out
// when others need its place, and at the latest when it is to sleep.
func TestPressure_theDeadHoldNoPlaces(t *testing.T) {
	dreaming(t, Options{MaxRunning: 2}, func(t *testing.T, c *Client, d *dozing, _ *memory) {
		for _, name := range []string{"a", "b"} {
			mustRun(t, c.Sandbox(book(name)), "inc")
			d.die(c.Sandbox(book(name)).id)
		}
		d.refuse = true
		mustRun(t, c.Sandbox(book("c")), "inc")
		time.Sleep(time.Hour)
		synctest.Wait()
		if got := c.Sandbox(book("b")).State(); got != StateStopped {
			t.Errorf("a dead one is %s", got)
		}
	})
}

func TestPressure_theRoomIsMeasuredOnceForAll(t *testing.T) {
	dreaming(t, Options{MaxMemory: 2 * freshBytes}, func(t *testing.T, c *Client, d *dozing, _ *memory) {
		d.usage = 2 * freshBytes
		defer block(t, c.Sandbox(book("busy")))()
		before := d.gauged()
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() { _ = c.Sandbox(book(fmt.Sprint(i))).Wake(t.Context()) })
		}
		wg.Wait()
		if looks := d.gauged() - before; looks > 300 { // ten a second for ten seconds would do
			t.Errorf("while a hundred waited, the one that runs was looked at %d times", looks)
		}
	})
}

// TestPressure_whatCannotSleepIsNotAskedAgain: with a full disk, who waits must
// not keep all that are idle at work.
func TestPressure_whatCannotSleepIsNotAskedAgain(t *testing.T) {
	dreaming(t, Options{MaxRunning: 5, QueueTime: 15 * time.Second}, func(t *testing.T, c *Client, d *dozing, _ *memory) {
		for i := range 5 {
			mustRun(t, c.Sandbox(book(fmt.Sprint(i))), "inc")
		}
		d.refuse = true
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				if err := c.Sandbox(book(fmt.Sprint("more", i))).Wake(t.Context()); CodeOf(err) != CodeExhausted {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if d.refusals != 10 { // now, and ten seconds later
			t.Errorf("five sandboxes refused to sleep %d times", d.refusals)
		}
	})
}

// TestPressure_whoGivesUpPutsNothingToSleep: that nobody waits any more for the
// answer of a sandbox does not say that it does nothing.
func TestPressure_whoGivesUpPutsNothingToSleep(t *testing.T) {
	dreaming(t, Options{MaxRunning: 20}, func(t *testing.T, c *Client, d *dozing, _ *memory) {
		for i := range 20 { // to ask all takes longer than anybody waits
			s := c.Sandbox(book(fmt.Sprint(i)))
			mustRun(t, s, "inc")
			d.box(s.ID()).busy.Store(1)
			d.box(s.ID()).slow.Store(int64(600 * time.Millisecond))
		}
		if err := c.Sandbox(scratch).Wake(t.Context()); CodeOf(err) != CodeExhausted {
			t.Errorf("while twenty work: %v", err)
		}
		time.Sleep(time.Second)
		if d.sleepers() != 0 {
			t.Errorf("%d that work were put to sleep", d.sleepers())
		}
	})
}

// TestPressure_oneThatIsLostIsRoomEnough: where memories cannot be written, a start
// costs one of them and not all.
func TestPressure_oneThatIsLostIsRoomEnough(t *testing.T) {
	dreaming(t, Options{MaxRunning: 5}, func(t *testing.T, c *Client, d *dozing, _ *memory) {
		for i := range 5 {
			mustRun(t, c.Sandbox(book(fmt.Sprint(i))), "inc")
		}
		d.loses = true
		mustRun(t, c.Sandbox(scratch), "inc")
		if _, _, running := d.count(); running != 5 {
			t.Errorf("%d run where five did and five may", running)
		}
	})
}

// TestPressure_whoWaitsIsToldInTime: a memory may take long to be written.
func TestPressure_whoWaitsIsToldInTime(t *testing.T) {
	dreaming(t, Options{MaxRunning: 1}, func(t *testing.T, c *Client, d *dozing, _ *memory) {
		mustRun(t, c.Sandbox(book("large")), "inc")
		d.writing = time.Minute
		began := time.Now()
		err := c.Sandbox(scratch).Wake(t.Context())
		if took := time.Since(began); CodeOf(err) != CodeExhausted || took > 11*time.Second {
			t.Errorf("%v after %s", err, took)
		}
		time.Sleep(time.Minute)
		mustRun(t, c.Sandbox(scratch), "inc")
	})
}

// TestStart_isNotOverBeforeItsUse: nobody may take a sandbox for idle that somebody
// waits for.
func TestStart_isNotOverBeforeItsUse(t *testing.T) {
	dreaming(t, Options{}, func(t *testing.T, c *Client, d *dozing, _ *memory) {
		var wg sync.WaitGroup
		wg.Go(func() { mustRun(t, c.Sandbox(scratch), "inc") })
		time.Sleep(d.bootTime / 2)
		l := c.all()[0]
		l.mu.Lock()
		if l.link != nil || l.busy != 1 {
			t.Errorf("while it starts, %d use the sandbox", l.busy)
		}
		l.mu.Unlock()
		wg.Wait()
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.busy != 0 {
			t.Errorf("afterwards %d use it", l.busy)
		}
	})
}

// TestSleep_waitsForAnswers: a connection that is open on both sides costs a
// sandbox its memory when it is put to sleep.
func TestSleep_waitsForAnswers(t *testing.T) {
	dreaming(t, Options{}, func(t *testing.T, c *Client, d *dozing, _ *memory) {
		s := c.Sandbox(scratch)
		mustRun(t, s, "inc")
		d.boxes[s.ID()].silent.Store(true) // a question takes a second
		l := c.all()[0]
		answered := make(chan time.Time, 1)
		go func() {
			c.stillWorks(t.Context(), l)
			answered <- time.Now()
		}()
		time.Sleep(aliveTimeout / 2)
		f := l.rest("it is late", l.idleLocked(0))
		<-f.done
		select {
		case <-answered:
		default:
			t.Error("it sleeps while somebody waits for its answer")
		}
	})
}

// TestReap_endsWithItsContext: what is on its way down needs nobody who waits for
// it; Close does, and has a bound.
func TestReap_endsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDozing()
		c, kill := d.client(t, Options{}, newMemory())
		for i := range 3 * atOnce {
			mustRun(t, c.Sandbox(book(fmt.Sprint(i))), "inc")
		}
		d.writing = time.Minute
		time.Sleep(c.opts.SleepAfter + 40*time.Second)
		endsAtOnce(t, kill)
		if err := c.Close(t.Context()); err != nil || d.sleepers() != 3*atOnce {
			t.Errorf("%v, and %d sleep", err, d.sleepers())
		}
	})
}

// What nobody knows of is cleared by the next gateway.
func TestReconcile_endsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDozing()
		for i := range 5 {
			d.stray(ID(fmt.Sprint(i)))
		}
		d.destroy = func() error {
			time.Sleep(20 * time.Second)
			return nil
		}
		_, kill := d.client(t, Options{}, newMemory())
		time.Sleep(reconcileEvery + 10*time.Second)
		endsAtOnce(t, kill)
		time.Sleep(time.Minute)
		ids, _ := d.List(t.Context())
		if len(ids) != 4 {
			t.Errorf("%d are left of five, of which one was being cleared", len(ids))
		}
		for _, id := range ids {
			d.die(id)
		}
	})
}

// A template takes longer to be made than a gateway has to stop.
func TestPrepare_endsWithItsContext(t *testing.T) {
	opts := Options{Warmth: Warmth{Apps: []string{"notebook"}}}
	dreaming(t, opts, func(t *testing.T, c *Client, d *dozing, _ *memory) {
		d.cold, d.writing = true, 20*time.Second
		ctx, stop := context.WithCancel(t.Context())
		var preparing sync.WaitGroup
		preparing.Go(func() { c.Prepare(ctx) })
		time.Sleep(10 * time.Second)
		endsAtOnce(t, func() {
			stop()
			preparing.Wait()
		})
		if err := c.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if _, destroys, running := d.count(); running != 0 || destroys != 1 {
			t.Errorf("%d run, %d ended", running, destroys)
		}
	})
}

func endsAtOnce(t *testing.T, end func()) {
	t.Helper()
	began := time.Now()
	end()
	if took := time.Since(began); took > time.Second {
		t.Errorf("it ended after %s", took)
	}
}

// TestReap_manyThatSleepHoldUpNoVigil: whoever uses a sandbox that died learns of
// it, however many are on their way to sleep.
func TestReap_manyThatSleepHoldUpNoVigil(t *testing.T) {
	dreaming(t, Options{}, func(t *testing.T, c *Client, d *dozing, _ *memory) {
		used := c.Sandbox(book("used"))
		ended := make(chan error, 1)
		go func() {
			_, err := used.RunCode(t.Context(), "block", RunOptions{Timeout: time.Hour})
			ended <- err
		}()
		for i := range 5 * atOnce {
			mustRun(t, c.Sandbox(book(fmt.Sprint(i))), "inc")
		}
		d.writing = time.Minute
		time.Sleep(c.opts.SleepAfter + 30*time.Second)
		if d.sleepers() >= 4*atOnce {
			t.Fatal("all sleep already")
		}
		d.boxes[used.ID()].silent.Store(true)
		began := time.Now()
		if err := <-ended; CodeOf(err) != CodeUnavailable || time.Since(began) > 30*time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
}

// TestPressure_nobodySleepsInVain: where the busy ones leave too little for who wants
// to wake, the idle ones stay awake.
func TestPressure_nobodySleepsInVain(t *testing.T) {
	dreaming(t, Options{MaxMemory: 1 << 30, QueueTime: time.Second}, func(t *testing.T, c *Client, d *dozing, _ *memory) {
		d.usage = 800 << 20
		big := c.Sandbox(book("big"))
		mustRun(t, big, "inc")
		if err := big.Hibernate(t.Context()); err != nil {
			t.Fatal(err)
		}
		d.usage = 300 << 20
		var busy sync.WaitGroup
		busy.Go(func() { mustRun(t, c.Sandbox(book("busy")), "wait") })
		for _, name := range []string{"one", "two"} {
			mustRun(t, c.Sandbox(book(name)), "inc")
		}
		if _, err := big.RunCode(t.Context(), "inc", RunOptions{}); CodeOf(err) != CodeExhausted {
			t.Errorf("it woke: %v", err)
		}
		if d.sleepers() != 1 {
			t.Errorf("%d sleep", d.sleepers())
		}
		busy.Wait()
	})
}
