package shim

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

// reclaim kills a lost shim with everything below it, and what came to sandboxd
// itself when the shim died. It gives up after a while: what outlives it is
// ended with the sandbox.
func (p *Pool) reclaim(shim int) {
	p.frozen.Lock()
	defer p.frozen.Unlock()
	defer thaw()
	for round, deadline := 0, time.Now().Add(patience); time.Now().Before(deadline); round++ {
		freeze()
		victims := p.leftovers(shim)
		if len(victims) == 0 {
			return
		}
		if round >= roundsBeforeStop {
			signalAll(victims, syscall.SIGSTOP)
			victims = p.leftovers(shim)
		}
		signalAll(victims, syscall.SIGKILL)
		<-time.After(quiet) // nobody tells of these deaths
	}
}

// leftovers lists the shim and what is below it, and the sandbox user's
// processes that are below no living shim.
func (p *Pool) leftovers(shim int) []process {
	below, err := descendants(os.Getpid())
	if err != nil {
		return nil
	}
	spared := p.liveShims()
	var found []process
	for _, d := range below { // parents come before their children
		if spared[d.parent] || spared[d.pid] {
			spared[d.pid] = true
			continue
		}
		if d.pid == shim || ownedBySandbox(d.pid) {
			found = append(found, d)
		}
	}
	return found
}

func (p *Pool) liveShims() map[int]bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	pids := make(map[int]bool, len(p.live))
	for pid := range p.live {
		pids[pid] = true
	}
	return pids
}

func ownedBySandbox(pid int) bool {
	info, err := os.Stat(fmt.Sprintf("/proc/%d", pid))
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Uid == SandboxUID
}
