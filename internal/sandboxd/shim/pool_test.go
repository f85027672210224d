package shim

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestPool_usesShimsAgain(t *testing.T) {
	p := newPool(t)
	shims := make(map[string]bool)
	for range 30 {
		shims[strings.TrimSpace(shell(t, p, "echo $PPID").output(t))] = true
	}
	if len(shims) > maxIdle {
		t.Errorf("30 programs, one after the other, had %d shims", len(shims))
	}
}

func TestPool_manyAtOnce(t *testing.T) {
	p := newPool(t)
	var wg sync.WaitGroup
	for i := range 24 {
		wg.Go(func() {
			for j := range 3 {
				want := fmt.Sprintf("%d-%d\n", i, j)
				prog := shell(t, p, "setsid sleep 1000 & echo "+want)
				if got := prog.output(t); got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			}
		})
	}
	wg.Wait()
	if left := ofSandboxUser(t); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestShim_isOutOfTheProgramsReach(t *testing.T) {
	prog := shell(t, newPool(t), `
		kill -9 $PPID 2>/dev/null && echo killed
		kill -STOP $PPID 2>/dev/null && echo stopped
		cat /proc/$PPID/environ 2>/dev/null && echo read
		ls /proc/$PPID/fd 2>/dev/null && echo listed
		: 2>/dev/null </proc/$PPID/mem && echo opened
		echo tried`)
	if got := prog.output(t); got != "tried\n" {
		t.Errorf("got %q", got)
	}
}

func TestPool_endsTheTreeOfALostShim(t *testing.T) {
	p := newPool(t)
	prog := shell(t, p, escapes["double fork"]+"\nsetsid sleep 1000 & echo $!; read")
	other := shell(t, p, "echo here; read; echo still here")
	other.line(t)
	pids := append(prog.pids(t, 2), prog.Pid())
	assertAlive(t, pids...)
	shim, err := readProcess(prog.Pid())
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(shim.parent, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	prog.await(t)
	assertGone(t, pids...)
	if s := prog.Status(); !s.Signaled() {
		t.Errorf("status %#x", s)
	}
	if got := other.output(t); got != "still here\n" {
		t.Errorf("the neighbour says %q", got)
	}
}

func TestPool_takesOverFromAShimThatDoesNotAnswer(t *testing.T) {
	p := newPool(t)
	p.killBound = 200 * time.Millisecond
	prog := shell(t, p, "setsid sleep 1000 & echo $!; read")
	pids := append(prog.pids(t, 1), prog.Pid())
	shim, err := readProcess(prog.Pid())
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(shim.parent, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	prog.Kill()
	prog.await(t)
	assertGone(t, append(pids, shim.parent)...)
}

func TestPool_startIsGivenUpWithItsContext(t *testing.T) {
	p := newPool(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Start(ctx, Command{Argv: []string{"/bin/sleep", "1000"}, Dir: "/"}); err == nil {
		t.Log("it was quicker than its context") // both are right, a leftover is not
	}
	p.Close()
	if left := ofSandboxUser(t); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestPool_closeEndsWhatRuns(t *testing.T) {
	p := newPool(t)
	prog := shell(t, p, "setsid sleep 1000 & echo $!; read")
	pids := append(prog.pids(t, 1), prog.Pid())
	p.Close()
	prog.await(t)
	assertGone(t, pids...)
	if _, err := p.Start(t.Context(), Command{Argv: []string{"/bin/true"}, Dir: "/"}); err == nil {
		t.Error("a closed pool starts programs")
	}
}

func TestPool_replacesIdleShimsThatDied(t *testing.T) {
	p := newPool(t)
	shell(t, p, "true").await(t)
	for begin := time.Now(); ; <-time.After(time.Millisecond) {
		shims := p.liveShims()
		if len(shims) == 0 {
			break
		}
		if time.Since(begin) > hang {
			t.Fatalf("%d are still thought to live", len(shims))
		}
		for pid := range shims {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	if got := shell(t, p, "echo started").output(t); got != "started\n" {
		t.Errorf("got %q", got)
	}
}
