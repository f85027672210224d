package sandboxclient

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sandgate/sandboxclient/wire"
)

// begun runs a cell beside the test, and gives how it ended.
func begun(ctx context.Context, s *Sandbox, code string) <-chan end {
	ended := make(chan end, 1)
	go func() {
		run, err := s.RunCode(ctx, code, RunOptions{})
		ended <- end{run, err}
	}()
	synctest.Wait()
	return ended
}

type end struct {
	run *Run
	err error
}

// An interrupt that comes while the cell's sandbox still starts waits for the
// cell, and ends it.
func TestInterrupt_ofACellOnItsWay(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Client, e *engine, _ *memory) {
		e.bootTime = 10 * time.Second
		s := c.Sandbox(scratch)
		ended := begun(t.Context(), s, "block")
		if creates, _, _ := e.count(); creates != 0 {
			t.Fatal("the sandbox is there already: nothing is tested")
		}
		if err := s.InterruptContext(t.Context(), "default-python"); err != nil {
			t.Error(err)
		}
		if e := <-ended; e.err != nil || e.run.Exit.Status != wire.StatusCanceled {
			t.Errorf("%+v, %v", e.run, e.err)
		}
		if err := s.InterruptContext(t.Context(), "default-python"); CodeOf(err) != CodeConflict {
			t.Errorf("with nothing to end: %v", err)
		}
	})
}

// Another context's cell is nothing to wait for.
func TestInterrupt_waitsForNoOtherContext(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Client, e *engine, _ *memory) {
		e.bootTime = 10 * time.Second
		s := c.Sandbox(scratch)
		begun(t.Context(), s, "x")
		began := time.Now()
		if err := s.InterruptContext(t.Context(), "default-bash"); CodeOf(err) != CodeConflict || time.Since(began) != 0 {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
}

func TestInterrupt_ofACellThatNeverArrives(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Client, e *engine, _ *memory) {
		e.bootTime = 10 * time.Second
		s := c.Sandbox(scratch)
		ctx, leave := context.WithCancel(t.Context())
		begun(ctx, s, "block")
		told := make(chan error, 1)
		go func() { told <- s.InterruptContext(t.Context(), "default-python") }()
		synctest.Wait()
		leave()
		if err := <-told; CodeOf(err) != CodeConflict {
			t.Errorf("%v", err)
		}
		hurried, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun(t.Context(), s, "x")
		if err := s.InterruptContext(hurried, "default-python"); CodeOf(err) != CodeTimeout {
			t.Errorf("an interrupt that cannot wait: %v", err)
		}
	})
}

func TestArrivals(t *testing.T) {
	var a arrivals
	key := contextKey{"id", "default-python"}
	if a.next(key) != nil {
		t.Error("somebody is on the way")
	}
	first, second := a.expect(key), a.expect(key)
	next := a.next(key)
	first()
	first()
	<-next
	if next = a.next(key); next == nil {
		t.Fatal("the second is forgotten")
	}
	second()
	<-next
	if a.next(key) != nil || len(a.at) != 0 {
		t.Error("something is left")
	}
}

// Whose sandbox is deleted while a cell runs is told so, and not of memory.
func TestDestroy_isToldToTheCellThatRan(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Client, _ *engine, _ *memory) {
		s := c.Sandbox(scratch)
		mustRun(t, s, "x")
		ended := begun(t.Context(), s, "block")
		if err := s.Destroy(t.Context(), RemoveWorkspace); err != nil {
			t.Fatal(err)
		}
		err := (<-ended).err
		if CodeOf(err) != CodeConflict || !strings.Contains(err.Error(), "deleted while this ran") {
			t.Errorf("%v", err)
		}
		mustRun(t, s, "x")
	})
}
