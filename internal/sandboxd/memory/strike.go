package memory

import (
	"fmt"
	"slices"
	"syscall"
	"time"
)

const (
	// dying is how long killed processes may take to be gone, and recovery how
	// long their memory may take to be there after that.
	dying    = 2 * time.Second
	recovery = 50 * time.Millisecond
	settled  = 1 << 20 // bytes that may still go

	// everybody is every process but this one.
	everybody = -1
)

// strike ends the largest of the user's processes, and more of them each time
// that was not enough, until more than want is left: after a fork bomb each
// holds next to nothing. It is false when all are ended and there is no memory.
//
// Unless there are few, and one is enough, all others stand still meanwhile.
// Beside hundreds that take memory, sandboxd would come too late to end one.
func (g *Guard) strike(limit, want int64) bool {
	frozen := false
	defer func() {
		if frozen {
			g.thaw()
		}
	}()
	for count := 1; ; count *= 2 {
		if count == 2 || count == 1 && g.tasks() >= herd {
			g.freeze()
			frozen = true
		}
		victims, err := g.largest(count)
		if err != nil {
			g.log.Error("no process to end for its memory", "error", err)
			return true
		}
		for _, victim := range victims {
			g.end(victim, limit)
		}
		if len(victims) < count {
			return g.recovers(victims, 0)
		}
		if g.recovers(victims, want) {
			return true
		}
	}
}

// freeze stops everybody: again, until none is left that was just being born,
// which shows in the memory that it takes.
func (g *Guard) freeze() {
	for last, calm := fastest, 0; calm < 2; {
		if err := g.kill(everybody, syscall.SIGSTOP); err != nil {
			g.log.Error("processes were not stopped", "error", err)
			return
		}
		left, _ := g.left()
		if calm++; left < last-settled {
			calm = 0
		}
		last = left
	}
}

// thaw lets everybody go on; it fails when nobody is left.
func (g *Guard) thaw() { _ = g.kill(everybody, syscall.SIGCONT) }

// end kills a process and lets its program be told.
func (g *Guard) end(victim process, limit int64) {
	if t := g.treeOf(victim); t != nil {
		why := fmt.Sprintf("out of memory: the sandbox has %d MiB in all", limit>>20)
		t.struck.Store(&why)
	}
	if err := g.kill(victim.pid, syscall.SIGKILL); err != nil {
		g.log.Error("process was not ended for its memory", "error", err)
		return
	}
	g.log.Warn("process ended for its memory", "pid", victim.pid, "bytes", victim.resident)
}

// recovers waits until more than want is left; it is false when the victims are
// gone, or should be, and it is not.
func (g *Guard) recovers(victims []process, want int64) bool {
	enough := func() bool { left, _ := g.left(); return left > want }
	gone := func() bool { return !slices.ContainsFunc(victims, g.holds) }
	return await(dying, func() bool { return enough() || gone() }) && await(recovery, enough)
}

// await waits until something nobody announces is true.
func await(within time.Duration, what func() bool) bool {
	for late := time.Now().Add(within); !what(); time.Sleep(closest) {
		if time.Now().After(late) {
			return false
		}
	}
	return true
}
