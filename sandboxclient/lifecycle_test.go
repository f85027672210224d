package sandboxclient

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

var scratch = Ref{Owner: "local", App: "notebook", Name: "scratch"}

// inBubble runs a test on a clock of its own, with a client that is closed
// before the bubble ends.
func inBubble(t *testing.T, f func(t *testing.T, c *Client, e *engine, m *memory)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		e, m := newEngine(), newMemory()
		e.bootTime = 100 * time.Millisecond
		f(t, testClient(t, e, m), e, m)
	})
}

func mustRun(t *testing.T, s *Sandbox, code string) *Run {
	t.Helper()
	run, err := s.RunCode(t.Context(), code, RunOptions{})
	if err != nil {
		t.Fatalf("run %q: %v", code, err)
	}
	return run
}

func TestStart_isOneFlightForAll(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Client, e *engine, _ *memory) {
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() { mustRun(t, c.Sandbox(scratch), "x") })
		}
		wg.Wait()
		if creates, _, _ := e.count(); creates != 1 {
			t.Errorf("%d sandboxes were created for one id", creates)
		}
	})
}

func TestStart_goesOnWithoutThoseWhoLeft(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Client, e *engine, _ *memory) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		_, err := c.Sandbox(scratch).RunCode(ctx, "x", RunOptions{})
		if CodeOf(err) != CodeTimeout {
			t.Errorf("leaving during the start gives %v", err)
		}
		mustRun(t, c.Sandbox(scratch), "x")
		if creates, _, _ := e.count(); creates != 1 {
			t.Errorf("%d creates, want the first one's to serve the second caller", creates)
		}
	})
}

func TestStart_failureIsToldAndForgotten(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Client, e *engine, _ *memory) {
		e.createErr = errors.New("no disk")
		_, err := c.Sandbox(scratch).RunCode(t.Context(), "x", RunOptions{})
		if CodeOf(err) != CodeUnavailable {
			t.Fatalf("a failed start gives %v", err)
		}
		e.createErr = nil
		mustRun(t, c.Sandbox(scratch), "x")
	})
}

func TestStart_ofASandboxThatNeverAnswersIsCleared(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Client, e *engine, _ *memory) {
		e.dead = true
		_, err := c.Sandbox(scratch).RunCode(t.Context(), "x", RunOptions{})
		if CodeOf(err) != CodeUnavailable {
			t.Fatalf("a dead start gives %v", err)
		}
		if _, _, running := e.count(); running != 0 {
			t.Error("the dead sandbox is still there")
		}
	})
}

func TestReap_endsTheIdleAndKeepsTheBusy(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Client, e *engine, m *memory) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go c.Reap(ctx)
		busy := c.Sandbox(Ref{Owner: "local", App: "notebook", Name: "busy"})
		wait := make(chan error, 1)
		go func() {
			_, err := busy.RunCode(ctx, "block", RunOptions{Timeout: time.Hour})
			wait <- err
		}()
		first := mustRun(t, c.Sandbox(scratch), "x")
		time.Sleep(9 * time.Minute)
		if _, _, running := e.count(); running != 2 {
			t.Fatalf("%d run after nine minutes, want both", running)
		}
		time.Sleep(2 * time.Minute)
		if _, destroys, running := e.count(); running != 1 || destroys != 1 {
			t.Fatalf("%d run and %d ended after eleven minutes, want the busy one alone to run", running, destroys)
		}
		if e.removed[c.Sandbox(scratch).ID()] {
			t.Error("the workspace was removed")
		}
		again := mustRun(t, c.Sandbox(scratch), "x")
		if first.Start != StartFresh || again.Start != StartRestarted || again.Generation != 2 || again.Restart == "" {
			t.Errorf("first %q, then %q, generation %d, because %q", first.Start, again.Start, again.Generation, again.Restart)
		}
		stop()
		if err := <-wait; CodeOf(err) != CodeCanceled {
			t.Errorf("the busy one ends with %v", err)
		}
		if record := m.records[c.Sandbox(scratch).ID()]; record.LastUsed.IsZero() {
			t.Error("the last use is not recorded")
		}
	})
}

func TestReap_countsDetachedWork(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Client, e *engine, _ *memory) {
		mustRun(t, c.Sandbox(scratch), "x")
		e.boxes[c.Sandbox(scratch).ID()].busy.Store(1)
		ctx, stop := context.WithCancel(t.Context())
		go c.Reap(ctx)
		time.Sleep(time.Hour)
		if _, _, running := e.count(); running != 1 {
			t.Error("a sandbox that works for nobody was ended")
		}
		stop()
	})
}

// What does not answer for a moment may work, and is not to end where it cannot
// sleep; what is dead ends.
func TestReap_sparesWhatIsSlowToAnswer(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Client, e *engine, _ *memory) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		mustRun(t, c.Sandbox(scratch), "x")
		box := theBox(e)
		box.busy.Store(1)
		go c.Reap(ctx)
		time.Sleep(9*time.Minute + 50*time.Second)
		box.silent.Store(true)
		time.Sleep(50 * time.Second) // it is asked twice
		box.silent.Store(false)
		time.Sleep(time.Hour)
		if _, destroys, _ := e.count(); destroys != 0 {
			t.Error("one that works was ended because it was slow")
		}
		box.silent.Store(true)
		time.Sleep(15 * time.Minute)
		if _, _, running := e.count(); running != 0 {
			t.Error("one that never answers runs on")
		}
		stop()
	})
}

// Where it sleeps, what it does stops as well.
func TestReap_putsNothingToSleepThatIsSlowToAnswer(t *testing.T) {
	dreaming(t, Options{}, func(t *testing.T, c *Client, d *dozing, _ *memory) {
		mustRun(t, c.Sandbox(scratch), "x")
		box := theBox(d.engine)
		box.busy.Store(1)
		time.Sleep(9*time.Minute + 50*time.Second)
		box.silent.Store(true)
		time.Sleep(50 * time.Second) // it is asked twice
		box.silent.Store(false)
		time.Sleep(time.Hour)
		if d.sleepers() != 0 {
			t.Error("one that works sleeps because it was slow")
		}
		box.silent.Store(true)
		time.Sleep(15 * time.Minute)
		if d.sleepers() != 1 {
			t.Error("one that never answers does not sleep")
		}
	})
}

func TestLost_isReplacedAtTheNextOperation(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Client, e *engine, _ *memory) {
		s := c.Sandbox(scratch)
		mustRun(t, s, "x")
		e.kill(s.ID())
		synctest.Wait() // the broken connections are noticed
		if run := mustRun(t, s, "y"); run.Stdout != "y" || run.Start != StartRestarted {
			t.Errorf("after the death: %+v", run)
		}
	})
}

func TestLost_underWayIsUnavailableAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Client, e *engine, _ *memory) {
		s := c.Sandbox(scratch)
		ended := make(chan error, 1)
		go func() {
			_, err := s.RunCode(t.Context(), "block", RunOptions{})
			ended <- err
		}()
		time.Sleep(time.Second)
		began := time.Now()
		e.kill(s.ID())
		if err := <-ended; CodeOf(err) != CodeUnavailable {
			t.Errorf("ended with %v", err)
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("told after %s", took)
		}
		mustRun(t, s, "x")
	})
}

func TestBroken_streamOfALivingSandboxIsNoDeath(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Client, e *engine, _ *memory) {
		s := c.Sandbox(scratch)
		if _, err := s.RunCode(t.Context(), "hang up", RunOptions{}); CodeOf(err) != CodeUnavailable {
			t.Errorf("a broken stream gives %v", err)
		}
		mustRun(t, s, "x")
		if creates, _, _ := e.count(); creates != 1 {
			t.Errorf("%d creates: a living sandbox was replaced", creates)
		}
	})
}

func TestWatchdog_endsWhatSandboxdNeverEnds(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Client, _ *engine, _ *memory) {
		began := time.Now()
		_, err := c.Sandbox(scratch).RunCode(t.Context(), "block", RunOptions{Timeout: time.Second})
		if CodeOf(err) != CodeTimeout || time.Since(began) > endGrace+5*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

func TestContexts_startsNoSandbox(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Client, e *engine, _ *memory) {
		s := c.Sandbox(scratch)
		if contexts, err := s.Contexts(t.Context()); err != nil || len(contexts) != 0 {
			t.Fatalf("%v, %v", contexts, err)
		}
		if err := s.DeleteContext(t.Context(), "default-python"); err != nil {
			t.Fatal(err)
		}
		if err := s.InterruptContext(t.Context(), "default-python"); CodeOf(err) != CodeConflict {
			t.Fatalf("interrupting nothing gives %v", err)
		}
		if creates, _, _ := e.count(); creates != 0 {
			t.Fatal("a question started a sandbox")
		}
		mustRun(t, s, "x")
		if contexts, err := s.Contexts(t.Context()); err != nil || len(contexts) != 1 {
			t.Fatalf("%v, %v", contexts, err)
		}
	})
}

func TestAdopt_takesOverTheLivingAndClearsTheRest(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Client, e *engine, m *memory) {
		living, dead, unknown := Ref{Owner: "local", App: "a", Name: "living"}, Ref{Owner: "local", App: "a", Name: "dead"}, Ref{Owner: "local", App: "a", Name: "unknown"}
		for _, ref := range []Ref{living, dead, unknown} {
			mustRun(t, c.Sandbox(ref), "x")
		}
		e.kill(c.Sandbox(dead).ID())
		delete(m.records, c.Sandbox(unknown).ID())
		synctest.Wait()

		next := testClient(t, e, m)
		if err := next.Adopt(t.Context()); err != nil {
			t.Fatal(err)
		}
		if creates, destroys, running := e.count(); creates != 3 || destroys != 2 || running != 1 {
			t.Errorf("%d created, %d destroyed, %d run", creates, destroys, running)
		}
		if run := mustRun(t, next.Sandbox(living), "x"); run.Start != StartRunning || run.Generation != 1 {
			t.Errorf("the living one is %q, generation %d", run.Start, run.Generation)
		}
	})
}

func TestClose_endsAllAndRefusesMore(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Client, e *engine, _ *memory) {
		for _, name := range []string{"a", "b", "c"} {
			mustRun(t, c.Sandbox(Ref{Owner: "local", App: "notebook", Name: name}), "x")
		}
		starting := make(chan error, 1)
		go func() {
			_, err := c.Sandbox(scratch).RunCode(t.Context(), "x", RunOptions{})
			starting <- err
		}()
		synctest.Wait()
		if err := c.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Logf("the start ended with %v", <-starting)
		if _, _, running := e.count(); running != 0 {
			t.Errorf("%d still run", running)
		}
		if _, err := c.Sandbox(scratch).RunCode(t.Context(), "x", RunOptions{}); CodeOf(err) != CodeUnavailable {
			t.Errorf("after the close: %v", err)
		}
	})
}

func TestDestroy_removesTheWorkspaceAndTheRecord(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Client, e *engine, m *memory) {
		s := c.Sandbox(scratch)
		mustRun(t, s, "x")
		for range 2 { // the second finds nothing, which is no error
			if err := s.Destroy(t.Context(), RemoveWorkspace); err != nil {
				t.Fatal(err)
			}
		}
		if !e.removed[s.ID()] || len(m.records) != 0 {
			t.Errorf("removed %v, records %v", e.removed, m.records)
		}
	})
}

func TestClient_keepsNoEntryOfWhatDoesNotRun(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Client, e *engine, _ *memory) {
		for _, name := range []string{"a", "b", "c"} {
			s := c.Sandbox(Ref{Owner: "local", App: "notebook", Name: name})
			mustRun(t, s, "x")
			if err := s.Destroy(t.Context(), KeepWorkspace); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if n := len(c.all()); n != 0 {
			t.Errorf("%d entries are kept", n)
		}
	})
}
