package memory

import (
	"fmt"
	"syscall"
	"time"
)

const (
	// recovery is how long killed processes may take to give their memory back.
	recovery     = 100 * time.Millisecond
	lastRecovery = 2 * time.Second // of all of them
	settled      = 1 << 20         // bytes that may still go
	// everybody is every process but this one.
	everybody = -1
)

// strike ends the largest of the user's processes, and more of them each time
// that was not enough, until more than want is left: after a fork bomb each
// holds next to nothing. It is false when all are ended and there is no memory.
//
// All others stand still meanwhile. Beside hundreds that take memory, sandboxd
// would come too late to end one of them.
func (g *Guard) strike(limit, want int64) bool {
	g.freeze()
	defer func() { _ = g.kill(everybody, syscall.SIGCONT) }() // it fails when nobody is left
	for count := 1; ; count *= 2 {
		victims, err := g.largest(count)
		if err != nil {
			g.log.Error("no process to end for its memory", "error", err)
			return true
		}
		for _, victim := range victims {
			g.end(victim, limit)
		}
		if len(victims) < count {
			return g.recovers(0, lastRecovery)
		}
		if g.recovers(want, recovery) {
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

// recovers waits until more than want is left; it is false when that takes too long.
func (g *Guard) recovers(want int64, within time.Duration) bool {
	for late := time.Now().Add(within); time.Now().Before(late); time.Sleep(closest) {
		if left, _ := g.left(); left > want {
			return true
		}
	}
	return false
}
