// Package kernel keeps one interpreter process per code context and runs cells in it.
package kernel

import (
	"context"
	"time"

	"sandgate/internal/sandboxd/shim"
	"sandgate/sandboxclient/wire"
)

// Spec says what to start.
type Spec struct {
	Language string
	Dir      string
	Env      []string
}

// Cell is one piece of code to run.
type Cell struct {
	Code  string
	Stdin []byte
}

// Start starts an interpreter and waits until it is ready.
func Start(ctx context.Context, starter shim.Starter, spec Spec) (*Kernel, error)

// Kernel is a living interpreter. One cell runs at a time.
type Kernel struct{}

// Engine says what runs the cells: "ipython" or "python".
func (k *Kernel) Engine() string

// Run runs one cell and emits its stdout, stderr and result events (Seq and
// Time unset) in order, from one goroutine. When ctx ends, the cell is
// interrupted, then after a grace period the kernel is killed; the wire.Status
// that is the cause of ctx's end is the cell's status. What was started by the
// cell dies with the interrupt. It always returns an Exit.
func (k *Kernel) Run(ctx context.Context, cell Cell, emit func(wire.Event)) wire.Exit

// Interrupt ends the running cell as if its user had asked (canceled); false
// when none runs.
func (k *Kernel) Interrupt() bool

// Done is closed when the process is gone; Died then says why.
func (k *Kernel) Done() <-chan struct{}
func (k *Kernel) Died() string

// Close kills the kernel with all it started and waits for it, some seconds at most.
func (k *Kernel) Close()

var _ = time.Second
