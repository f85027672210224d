package kernel

import (
	"sync"
	"syscall"
	"time"
)

// An interruption is the ending of a cell that does not end by itself.
type interruption struct {
	begun    bool
	again    <-chan time.Time // a signal is due, unless one has arrived
	grace    <-chan time.Time
	children sync.WaitGroup // the killing of what the cell started
}

// arrived says that the program has seen a signal.
func (i *interruption) arrived() { i.again = nil }

// interrupt begins to end the cell.
func (r *run) interrupt() {
	r.interruption.begun = true
	r.interruption.grace = time.After(grace)
	r.interruption.again = time.After(insistence)
	r.signal()
}

// insist signals once more. A program that waits for its child, and heeds
// nothing until then, is helped by the child's death.
func (r *run) insist() {
	r.interruption.again = time.After(insistence)
	r.interruption.children.Wait()
	r.interruption.children.Go(r.killChildren)
	r.signal()
}

func (r *run) signal() {
	_ = r.k.tree.Signal(syscall.SIGINT) // it fails when the process is gone, which Done tells
}

// killChildren kills what was born in the cell. What withstands that is ended
// with the kernel.
func (r *run) killChildren() {
	_ = r.k.tree.KillSince(r.began)
}

func (r *run) endInterruption() {
	r.interruption.children.Wait()
	r.killChildren()
}
