package shim

import (
	"errors"
	"os"
	"slices"
	"syscall"
	"time"
)

const (
	// patience bounds the ending of a tree that goes on growing.
	patience = 10 * time.Second
	// quiet is how long no child has to die before another look is worth it.
	quiet = 10 * time.Millisecond
	// roundsBeforeStop is how often killing alone is tried.
	roundsBeforeStop = 3
	// stopPasses bounds the chase after processes that are born while others are stopped.
	stopPasses = 64
)

var errAlive = errors.New("shim: processes outlive their killing")

// A death is some children's end.
type death struct {
	program syscall.WaitStatus
	ended   bool // the program is among them
	empty   bool // no child is left, so no descendant either
}

// wait takes the wait status of every child, also of those that only became the
// shim's when their parents ended. It returns when none is left.
func (s *server) wait(program int) {
	for {
		d := reap(program)
		s.deaths <- d
		if d.empty {
			return
		}
	}
}

// reap waits for a child to end, and takes all others that have ended by then.
func reap(program int) death {
	var d death
	for options := 0; ; options = syscall.WNOHANG {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, options, nil)
		if err != nil && err != syscall.EINTR {
			d.empty = true
			return d
		}
		if pid <= 0 {
			return d
		}
		if pid == program {
			d.program, d.ended = status, true
		}
	}
}

func (s *server) note(d death) {
	if d.ended {
		s.status, s.ended = d.program, true
	}
	s.empty = s.empty || d.empty
}

// killLeftovers kills until no descendant is left, the program included if it
// was told to die. It does not look at /proc when there is nothing to kill.
func (s *server) killLeftovers() error {
	deadline := time.Now().Add(patience)
	for round := 0; !s.empty; round++ {
		if time.Now().After(deadline) {
			return errAlive
		}
		victims, err := descendants(os.Getpid())
		if err != nil {
			return err
		}
		killRound(round, victims, everyProcess)
		s.awaitDeaths()
	}
	return nil
}

// killSince kills the descendants started at or after a moment, until two looks
// in a row find none.
func (s *server) killSince(ticks uint64) syscall.Errno {
	born := bornSince(s.program, ticks)
	deadline := time.Now().Add(patience)
	for round, clean := 0, 0; clean < 2 && !s.empty; round++ {
		if time.Now().After(deadline) {
			return syscall.EBUSY
		}
		victims, err := below(os.Getpid(), born)
		if err != nil {
			return errno(err)
		}
		if len(victims) == 0 {
			clean++
			continue
		}
		clean = 0
		killRound(round, victims, born)
		s.awaitDeaths()
	}
	return 0
}

// bornSince matches what was started at or after a moment, but for the program.
func bornSince(program int, ticks uint64) func(process) bool {
	return func(p process) bool { return p.pid != program && p.started >= ticks }
}

func everyProcess(process) bool { return true }

func below(pid int, which func(process) bool) ([]process, error) {
	all, err := descendants(pid)
	return slices.DeleteFunc(all, func(p process) bool { return !which(p) }), err
}

// killRound kills; from some round on it stops everything first, since what is
// stopped cannot fork away from under the killing.
func killRound(round int, victims []process, which func(process) bool) {
	if round >= roundsBeforeStop {
		victims = stop(victims, which)
	}
	signalAll(victims, syscall.SIGKILL)
}

// stop stops the victims and those that were born meanwhile, until a look finds
// no new one.
func stop(victims []process, which func(process) bool) []process {
	stopped := make(map[int]bool)
	var all []process
	for range stopPasses {
		fresh := victims[:0:0]
		for _, p := range victims {
			if !stopped[p.pid] {
				stopped[p.pid] = true
				fresh = append(fresh, p)
			}
		}
		if len(fresh) == 0 {
			break
		}
		signalAll(fresh, syscall.SIGSTOP)
		all = append(all, fresh...)
		next, err := below(os.Getpid(), which)
		if err != nil {
			break
		}
		victims = next
	}
	return all
}

// awaitDeaths takes deaths until none is left to die or none died for a while.
func (s *server) awaitDeaths() {
	timer := time.NewTimer(quiet)
	defer timer.Stop()
	for !s.empty {
		select {
		case d := <-s.deaths:
			s.note(d)
			timer.Reset(quiet)
		case <-timer.C:
			return
		}
	}
}
