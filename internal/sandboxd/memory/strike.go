package memory

import (
	"fmt"
	"slices"
	"syscall"
	"time"
)

const (
	// dying is how long killed processes may take to be gone, and recovery how
	// long their memory may take to be there after that: much on a busy host, where
	// whoever loses patience ends somebody who has taken nothing.
	dying    = 5 * time.Second
	recovery = 3 * time.Second
	settled  = 1 << 20 // bytes that may still go

	// everybody is every process but this one.
	everybody = -1
)

// strike ends the largest of the user's processes, and more of them each time
// that was not enough, until more than want is left: after a fork bomb each
// holds next to nothing. It is false when all are ended and there is no memory.
//
// Unless there are few, and one is enough, all others stand still meanwhile.
// Beside hundreds that take memory, sandboxd would come too late to end one. And
// one that took more before it died is waited for once they do: only then is what
// is missing another's.
func (g *Guard) strike(limit, want int64) bool {
	still := g.tasks() >= herd
	defer func() {
		if still {
			g.thaw()
		}
	}()
	for count := 1; ; count *= 2 {
		if still {
			g.freeze()
		}
		victims, err := g.largest(count)
		if err != nil {
			g.log.Error("no process to end for its memory", "error", err)
			return true
		}
		left, _ := g.left()
		for _, victim := range victims {
			g.end(victim, limit)
		}
		if len(victims) < count {
			return g.recovers(victims, left, 0, still)
		}
		if g.recovers(victims, left, want, still) {
			return true
		}
		if !still {
			still = true
			g.freeze()
			if g.recovers(victims, left, want, still) {
				return true
			}
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

// recovers waits until the victims have given back what they had, or should have,
// and says whether more than want is left then. A little of it is not enough:
// whoever begins meanwhile, a new interpreter, say, would be the next. When more is
// taken than the left that was there before, it ends as well; but where all others
// are to stand still, it makes them stand again: who ends a program with its whole
// tree lets everybody go on after it.
func (g *Guard) recovers(victims []process, before, want int64, still bool) bool {
	var held int64
	for _, v := range victims {
		held += v.resident
	}
	enough, gone := false, false
	low := before
	over := func() bool {
		left, _ := g.left()
		if still && left < low-settled {
			g.freeze()
			low, _ = g.left()
		}
		enough = left > want
		gone = gone || !slices.ContainsFunc(victims, g.holds)
		return !still && left < before-settled || gone && left >= before+held/2
	}
	await(dying, func() bool { return over() || gone })
	await(recovery, over)
	return enough
}

// await waits until something nobody announces is true, but no longer than that.
func await(within time.Duration, what func() bool) {
	for late := time.Now().Add(within); !what() && time.Now().Before(late); time.Sleep(closest) {
	}
}
