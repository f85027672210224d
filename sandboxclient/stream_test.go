package sandboxclient

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"sandgate/sandboxclient/wire"
)

// theBox gives the one sandbox of an engine.
func theBox(e *engine) *engineBox {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, b := range e.boxes {
		return b
	}
	return nil
}

func fourEvents() []wire.Event {
	return []wire.Event{
		{Seq: 1, Type: wire.EventStart, Start: &wire.Start{Context: "default-python"}},
		{Seq: 2, Type: wire.EventStdout, Data: []byte("a")},
		{Seq: 3, Type: wire.EventStdout, Data: []byte("b")},
		{Seq: 4, Type: wire.EventComplete, Exit: &wire.Exit{Status: wire.StatusExited}},
	}
}

// A connection that breaks is taken up again where it broke: nothing is lost,
// nothing comes twice.
func TestStream_takesUpWhatBroke(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Client, e *engine, _ *memory) {
		s := c.Sandbox(scratch)
		mustRun(t, s, "x")
		theBox(e).offer(fourEvents(), false)
		run, err := s.RunCode(t.Context(), "hang up", RunOptions{})
		if err != nil || run.Stdout != "ab" || theBox(e).cancellations() != 0 {
			t.Errorf("%+v, %v, %d canceled", run, err, theBox(e).cancellations())
		}
	})
}

// An end that cannot be seen is told once, as ours, and the execution canceled.
func TestStream_thatIsLostEndsOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Client, e *engine, _ *memory) {
		s := c.Sandbox(scratch)
		mustRun(t, s, "x")
		theBox(e).offer(nil, true)
		var got []Event
		for e, err := range s.RunCodeStream(t.Context(), "hang up", RunOptions{}) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, e)
		}
		last := got[len(got)-1]
		if len(got) != 2 || last.Type != wire.EventError || last.Code != wire.CodeUnavailable || last.Seq != 1 || theBox(e).cancellations() != 1 {
			t.Errorf("%+v, %d canceled", got, theBox(e).cancellations())
		}
	})
}

func TestStream_leavingCancelsUnlessDetached(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Client, e *engine, _ *memory) {
		s := c.Sandbox(scratch)
		mustRun(t, s, "x")
		for _, detach := range []bool{true, false} {
			for _, err := range s.RunCodeStream(t.Context(), "block", RunOptions{Detach: detach}) {
				if err != nil {
					t.Error(err)
				}
				break
			}
			synctest.Wait()
			if want := map[bool]int{true: 0, false: 1}[detach]; theBox(e).cancellations() != want {
				t.Errorf("detached %v: %d canceled", detach, theBox(e).cancellations())
			}
		}
	})
}

// What was detached runs although its caller left while the sandbox started.
func TestStream_leavingBeforeItBegins(t *testing.T) {
	for detach, want := range map[bool]string{true: "2", false: "1"} {
		inBubble(t, func(t *testing.T, c *Client, e *engine, _ *memory) {
			e.bootTime = time.Second
			s := c.Sandbox(scratch)
			ctx, leave := context.WithCancel(t.Context())
			time.AfterFunc(time.Second/2, leave)
			_, _ = s.RunCode(ctx, "inc", RunOptions{Detach: detach}) // nobody waits for the answer
			time.Sleep(time.Second)
			if run := mustRun(t, s, "inc"); run.Stdout != want {
				t.Errorf("detached %v: the next count is %s, want %s", detach, run.Stdout, want)
			}
		})
	}
}

// Nor does it matter that the sandbox had died unnoticed, and starts once more. A
// gateway that stops waits for none of it.
func TestStream_leavingBeforeItBeginsAnew(t *testing.T) {
	for cause, want := range map[error]string{context.Canceled: "2", &Error{Code: CodeUnavailable}: "1"} {
		inBubble(t, func(t *testing.T, c *Client, e *engine, _ *memory) {
			s := c.Sandbox(scratch)
			mustRun(t, s, "x")
			e.kill(s.ID())
			e.bootTime = time.Second
			ctx, leave := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Second/2, func() { leave(cause) })
			_, _ = s.RunCode(ctx, "inc", RunOptions{Detach: true}) // the same
			time.Sleep(time.Second)
			if run := mustRun(t, s, "inc"); run.Stdout != want {
				t.Errorf("%v: the next count is %s, want %s", cause, run.Stdout, want)
			}
		})
	}
}

func TestStream_refusesASecondStart(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Client, _ *engine, m *memory) {
		s := c.Sandbox(scratch)
		if _, err := s.RunCode(t.Context(), "start again", RunOptions{}); CodeOf(err) != CodeUnavailable {
			t.Errorf("%v", err)
		}
		if n := m.generations[string(s.ID())+"default-python"]; n != 1 {
			t.Errorf("%d kernels were counted", n)
		}
	})
}

// A database that cannot count is no reason to lose a cell.
func TestRunCode_withoutACount(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Client, _ *engine, m *memory) {
		m.err = errors.New("disk full")
		if run := mustRun(t, c.Sandbox(scratch), "x"); run.Stdout != "x" || run.Generation != 0 {
			t.Errorf("%+v", run)
		}
	})
}

// Who only watches reads on from where he left off, and never ends anything.
func TestFollow(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Client, e *engine, _ *memory) {
		s := c.Sandbox(scratch)
		mustRun(t, s, "x")
		c.executions.add("run", s.ID(), scratch)
		theBox(e).offer(fourEvents(), false)
		for after, want := range map[int64]string{0: "ab", 2: "b", 3: "", 4: ""} {
			text, ends := watchAll(t, c, after)
			if wantEnds := map[bool]int{true: 1, false: 0}[after < 4]; text != want || ends != wantEnds {
				t.Errorf("after %d: %q, %d ends", after, text, ends)
			}
		}
		for _, err := range c.FollowExecution(t.Context(), "mallory", "run", 0) {
			if CodeOf(err) != CodeNotFound {
				t.Errorf("another owner: %v", err)
			}
		}
		theBox(e).offer(fourEvents()[:2], false) // it breaks, again and again
		if text, ends := watchAll(t, c, 0); text != "a" || ends != 1 {
			t.Errorf("%q, %d ends", text, ends)
		}
		if theBox(e).cancellations() != 0 {
			t.Error("a viewer canceled what he watched")
		}
	})
}

func watchAll(t *testing.T, c *Client, after int64) (text string, ends int) {
	t.Helper()
	for e, err := range c.FollowExecution(t.Context(), "local", "run", after) {
		if err != nil {
			t.Fatal(err)
		}
		text += string(e.Data)
		if e.Terminal() {
			ends++
		}
	}
	return text, ends
}

// Whoever falls silent while in use is replaced; one that is slow for a moment
// is not.
func TestVigil_replacesWhoFallsSilent(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Client, e *engine, _ *memory) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go c.Reap(ctx)
		s := c.Sandbox(scratch)
		mustRun(t, s, "x")
		ended := make(chan error, 1)
		go func() {
			_, err := s.RunCode(t.Context(), "block", RunOptions{Timeout: time.Hour})
			ended <- err
		}()
		synctest.Wait()
		box := theBox(e)
		box.silent.Store(true)
		time.Sleep(7 * time.Second)
		box.silent.Store(false)
		time.Sleep(time.Minute)
		if creates, _, running := e.count(); creates != 1 || running != 1 {
			t.Fatalf("a slow one was replaced: %d created, %d run", creates, running)
		}
		box.silent.Store(true)
		began := time.Now()
		if err := <-ended; CodeOf(err) != CodeUnavailable || time.Since(began) > 30*time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		mustRun(t, s, "x")
		stop()
	})
}

// An error is an answer: who gives one lives.
func TestVigil_sparesWhoAnswersWithAnError(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Client, e *engine, _ *memory) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go c.Reap(ctx)
		s := c.Sandbox(scratch)
		mustRun(t, s, "inc")
		end := block(t, s)
		theBox(e).failing.Store(true)
		time.Sleep(10 * maxSilence * vigilEvery)
		end()
		if run := mustRun(t, s, "inc"); run.Stdout != "2" {
			t.Errorf("it was replaced: it counts %s", run.Stdout)
		}
		stop()
	})
}

// A caller whose deadline passes while a sandbox is slow must not cost others
// what it has in memory; those of one that never answers do.
func TestExamine_sparesWhoIsSlowForAMoment(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Client, e *engine, _ *memory) {
		s := c.Sandbox(scratch)
		mustRun(t, s, "inc")
		box := theBox(e)
		giveUp := func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, _ = s.RunCode(ctx, "block", RunOptions{})
		}
		box.silent.Store(true)
		giveUp()
		box.silent.Store(false)
		if run := mustRun(t, s, "inc"); run.Stdout != "2" {
			t.Errorf("after one deadline it counts %s", run.Stdout)
		}
		box.silent.Store(true)
		for range maxSilence {
			giveUp()
		}
		if run := mustRun(t, s, "inc"); run.Stdout != "1" {
			t.Errorf("one that never answers was not replaced: it counts %s", run.Stdout)
		}
	})
}

func TestAdopt_goesOnWhenOneCannotBeCleared(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Client, e *engine, m *memory) {
		living, dead := named("living"), named("dead")
		mustRun(t, c.Sandbox(living), "x")
		mustRun(t, c.Sandbox(dead), "x")
		e.kill(c.Sandbox(dead).ID())
		synctest.Wait()
		stuck := true
		e.destroy = func() error {
			if stuck {
				return errors.New("the cgroup is busy")
			}
			return nil
		}
		next := testClient(t, e, m)
		if err := next.Adopt(t.Context()); err != nil {
			t.Fatal(err)
		}
		if run := mustRun(t, next.Sandbox(living), "x"); run.Start != StartRunning {
			t.Errorf("the living one: %+v", run)
		}
		stuck = false
		ctx, stop := context.WithCancel(t.Context())
		go next.Reap(ctx)
		time.Sleep(2 * time.Minute)
		if _, _, running := e.count(); running != 1 {
			t.Errorf("%d run: what could not be cleared is still there", running)
		}
		stop()
	})
}

// Nothing of an ephemeral sandbox outlives a gateway that died.
func TestAdopt_removesTheEphemeral(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Client, e *engine, m *memory) {
		fresh := Ref{Owner: "local", App: "coderunner", Name: "fresh-1", Ephemeral: true}
		mustRun(t, c.Sandbox(fresh), "x")
		next := testClient(t, e, m)
		if err := next.Adopt(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, _, running := e.count(); running != 0 || len(m.records) != 0 || !e.removed[c.Sandbox(fresh).ID()] {
			t.Errorf("%d run, %d records, removed %v", running, len(m.records), e.removed)
		}
	})
}

// A request that arrives while a sandbox fails to end gets a start all the same.
func TestStart_doesNotInheritAnEndsFailure(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Client, e *engine, _ *memory) {
		s := c.Sandbox(scratch)
		mustRun(t, s, "x")
		fails := 1
		e.destroy = func() error {
			time.Sleep(time.Second)
			if fails--; fails >= 0 {
				return errors.New("busy")
			}
			return nil
		}
		go func() { _ = s.Destroy(t.Context(), KeepWorkspace) }()
		time.Sleep(100 * time.Millisecond)
		mustRun(t, s, "x")
	})
}
