package shim

import (
	"os"
	"syscall"
	"time"
)

const (
	// struggle is how long a shim may work on an end before it is helped.
	struggle = 250 * time.Millisecond
	// freezeRounds bounds the looks at a tree that is frozen.
	freezeRounds = 16
)

// overpower kills victims of a tree while nothing else in the sandbox runs.
// Alone, a shim has no chance against some hundred processes that fork: under
// gVisor each system call of its own waits for the processor behind all of
// them, and a look at /proc takes longer than a generation.
func (p *Pool) overpower(t *tree, victim func(process) bool) {
	p.frozen.Lock()
	defer p.frozen.Unlock()
	defer thaw()
	killed := make(map[int]uint64)
	for range freezeRounds {
		freeze()
		if !t.worker.runs(t) {
			return // it ended meanwhile; what is below the shim now is another
		}
		found, err := below(t.worker.pid, victim)
		if err != nil || killFresh(found, killed) == 0 {
			return
		}
	}
}

// killFresh kills those that have not been yet: these only take their time.
func killFresh(found []process, killed map[int]uint64) (fresh int) {
	for _, v := range found {
		if killed[v.pid] == v.started {
			continue
		}
		killed[v.pid] = v.started
		fresh++
		_ = syscall.Kill(v.pid, syscall.SIGKILL)
	}
	return fresh
}

// freeze stops every process but PID 1, with one call. Whoever is not PID 1
// must not: to it, all processes are those of the machine. What is stopped can
// be killed, and cannot fork.
func freeze() {
	if os.Getpid() == 1 {
		_ = syscall.Kill(-1, syscall.SIGSTOP)
	}
}

// thaw lets all go on, also those that their users had stopped.
func thaw() {
	if os.Getpid() == 1 {
		_ = syscall.Kill(-1, syscall.SIGCONT)
	}
}
