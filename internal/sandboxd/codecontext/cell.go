package codecontext

import (
	"context"
	"slices"
	"time"

	"sandgate/internal/sandboxd/execution"
	"sandgate/sandboxclient/wire"
)

// A cell waits in the queue of its context, or runs.
type cell struct {
	x       *execution.Execution
	code    string
	stdin   []byte
	timeout time.Duration
	forget  func() bool // ends the watch over a cell that waits
}

// skip ends a cell that never ran.
func (n *cell) skip(status wire.Status) {
	n.x.Complete(wire.Exit{Status: status, ExitCode: 1})
}

// enqueue adds a cell, which leaves the queue when its execution is cancelled
// and ends at once.
func (c *codeContext) enqueue(x *execution.Execution, req wire.RunRequest) error {
	n := &cell{
		x: x, code: req.Code, stdin: req.Stdin,
		timeout: time.Duration(req.TimeoutMS) * time.Millisecond,
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) >= maxQueue {
		return fail(wire.CodeExhausted, "Too many cells wait in this code context")
	}
	if c.warm {
		c.warm = false
		c.seen.CreatedAt = time.Now().UTC() // for whoever waits here, it is made now
	}
	c.queue = append(c.queue, n)
	n.forget = context.AfterFunc(x.Context(), func() { c.leave(n) })
	select {
	case c.wake <- struct{}{}:
	default:
	}
	return nil
}

// leave takes a cell out of the queue, if it is still there.
func (c *codeContext) leave(n *cell) {
	c.mu.Lock()
	i := slices.Index(c.queue, n)
	if i >= 0 {
		c.queue = slices.Delete(c.queue, i, i+1)
	}
	c.mu.Unlock()
	if i < 0 {
		return
	}
	status, ok := execution.Cause(n.x.Context())
	if !ok {
		status = wire.StatusCanceled
	}
	n.skip(status)
}

// next takes the first cell from the queue; nil when it is empty.
func (c *codeContext) next() *cell {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) == 0 {
		return nil
	}
	n := c.queue[0]
	c.queue = slices.Delete(c.queue, 0, 1)
	n.forget()
	return n
}

func (c *codeContext) waits() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.queue) > 0
}
