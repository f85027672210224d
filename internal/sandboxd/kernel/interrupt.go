package kernel

import (
	"sync"
	"syscall"
	"time"
)

// An interruption is the ending of a cell that does not end by itself.
type interruption struct {
	begun   bool
	again   <-chan time.Time // another signal is due, unless one has arrived
	grace   <-chan time.Time
	pending sync.WaitGroup // what insist has begun
	busy    sync.Mutex     // held by it
}

// arrived says that the program has seen a signal.
func (i *interruption) arrived() { i.again = nil }

// interrupt begins to end the cell.
func (r *run) interrupt() {
	r.interruption.begun = true
	r.interruption.grace = r.k.clock.After(grace)
	r.interruption.again = time.After(insistence)
	r.signal()
}

// insist signals once more, without waiting for it. A program that waits for a
// child and heeds nothing until then is helped by the child's death.
func (r *run) insist() {
	r.interruption.again = time.After(insistence)
	r.interruption.pending.Go(func() {
		if !r.interruption.busy.TryLock() {
			return
		}
		defer r.interruption.busy.Unlock()
		r.killChildren()
		r.signal()
	})
}

// endInterruption leaves no signal and no child of the cell behind.
func (r *run) endInterruption() {
	r.interruption.pending.Wait()
	r.killChildren()
}

func (r *run) signal() {
	_ = r.k.tree.Signal(syscall.SIGINT) // it fails when the process is gone, which Done tells
}

// killChildren kills what was born in the cell. What withstands that is ended
// with the kernel.
func (r *run) killChildren() {
	_ = r.k.tree.KillSince(r.began)
}
