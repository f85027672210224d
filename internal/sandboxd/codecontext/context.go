package codecontext

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"sandgate/internal/sandboxd/execution"
	"sandgate/internal/sandboxd/launch"
	"sandgate/sandboxclient/wire"
)

// startTimeout bounds the start of an interpreter.
const startTimeout = 60 * time.Second

// A codeContext runs the cells of its queue. Its interpreter is touched by the
// goroutine of live alone; what others see lies behind mu.
type codeContext struct {
	set      *Set
	id       string
	language string

	ctx  context.Context // ends when the context is to end
	end  context.CancelFunc
	gone chan struct{} // closed when it has ended
	wake chan struct{} // holds one when the queue has been added to

	interpreter Interpreter // nil when there is none
	announced   bool        // a cell has been told of the interpreter

	mu      sync.Mutex
	spec    Spec
	warm    bool               // nobody has had a cell for it yet
	changes map[string]*string // of the environment since the interpreter was started
	used    bool               // a cell has run here
	queue   []*cell
	running *cell
	seen    wire.ContextInfo
}

// newContext makes a context; died is why one before it with this id is gone.
func newContext(s *Set, id string, spec Spec, died string) *codeContext {
	now := time.Now().UTC()
	c := &codeContext{
		set: s, id: id, language: spec.Language, spec: spec,
		gone: make(chan struct{}),
		wake: make(chan struct{}, 1),
		seen: wire.ContextInfo{
			ID: id, Language: spec.Language, State: wire.ContextStarting,
			CreatedAt: now, LastUsed: now, Died: died,
		},
	}
	c.ctx, c.end = context.WithCancel(context.Background())
	return c
}

// live runs cells until the context ends. A warm-up comes before them; nil: there
// is none.
func (c *codeContext) live(w *warmUp) {
	defer close(c.gone)
	defer c.end()
	defer c.close()
	if w != nil && !c.warmUp(w) && c.set.discard(c) {
		return
	}
	for c.await() {
		if c.interpreter == nil && !c.start() {
			if c.set.discard(c) {
				return
			}
			continue
		}
		if next := c.next(); next != nil {
			c.run(next)
		}
	}
}

// close ends what there is, cells that wait included.
func (c *codeContext) close() {
	if c.interpreter != nil {
		c.interpreter.Close()
	}
	for next := c.next(); next != nil; next = c.next() {
		next.skip(wire.StatusCanceled)
	}
}

// await waits for a cell, and buries the interpreter if it dies meanwhile. It is
// false when the context is to end.
func (c *codeContext) await() bool {
	for {
		var died <-chan struct{}
		if c.interpreter != nil {
			died = c.interpreter.Done()
		}
		select {
		case <-died:
			c.bury()
			continue
		default:
		}
		if c.ctx.Err() != nil {
			return false
		}
		if c.waits() {
			return true
		}
		select {
		case <-c.wake:
		case <-died:
		case <-c.ctx.Done():
		}
	}
}

func (c *codeContext) bury() {
	why := c.interpreter.Died()
	c.interpreter.Close()
	c.interpreter = nil
	c.update(func(info *wire.ContextInfo) {
		info.State = wire.ContextDead
		if c.announced { // else nobody has lost anything
			info.Died = why
		}
	})
}

// start starts an interpreter for the cell that waits first, and fails that cell
// if it cannot. When the context is to end, close sees to the cell.
func (c *codeContext) start() bool {
	_, err := c.startWith(Spec{}, startTimeout)
	if err != nil && c.ctx.Err() == nil {
		c.failFirst(err)
	}
	return err == nil
}

// startWith starts an interpreter, ahead if extra says so, and gives the modules
// that could not be imported.
func (c *codeContext) startWith(extra Spec, bound time.Duration) ([]wire.FailedPreload, *wire.Error) {
	var spec Spec
	c.update(func(info *wire.ContextInfo) {
		info.State = wire.ContextStarting
		spec = c.spec
		if !extra.Ahead {
			c.changes = nil // it knows of them
		}
	})
	spec.Ahead, spec.Preload = extra.Ahead, extra.Preload
	ctx, cancel := c.set.clock.WithTimeout(c.ctx, bound, context.DeadlineExceeded)
	defer cancel()
	started, err := c.set.start(ctx, spec)
	if err != nil {
		c.update(func(info *wire.ContextInfo) { info.State = wire.ContextDead })
		return nil, c.explain(ctx, bound, err)
	}
	c.interpreter, c.announced = started.Interpreter, false
	c.update(func(info *wire.ContextInfo) {
		info.State, info.Engine, info.ExecutionCount = wire.ContextIdle, started.Engine, 0
		info.Starts++
	})
	return started.Failed, nil
}

func (c *codeContext) failFirst(err *wire.Error) {
	if first := c.next(); first != nil {
		first.x.Fail(err)
	}
}

func (c *codeContext) explain(ctx context.Context, bound time.Duration, err error) *wire.Error {
	if e, ok := errors.AsType[*wire.Error](launch.Error(err)); ok {
		return e
	}
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return fail(wire.CodeUnavailable, fmt.Sprintf("The %s interpreter did not start within %s", c.language, bound))
	}
	return fail(wire.CodeUnavailable, fmt.Sprintf("The %s interpreter did not start: %s", c.language, err))
}

// run runs one cell to its end.
func (c *codeContext) run(next *cell) {
	if status, over := execution.Cause(next.x.Context()); over {
		next.skip(status)
		return
	}
	ctx, stop := next.x.Within(next.timeout) // which counts from now
	defer stop()
	interpreter := c.interpreter
	unbind := context.AfterFunc(c.ctx, func() {
		next.x.Cancel(wire.StatusCanceled)
		interpreter.Close()
	})
	defer unbind()

	elapsed := next.x.Stopwatch()
	c.begin(next)
	cell := Cell{Code: next.code, Stdin: next.stdin, Env: c.changed()}
	exit := interpreter.Run(ctx, cell, next.x.Emit)
	exit.DurationMS = elapsed()
	exit.ExecutionCount = c.finish()
	if exit.KernelDied == "" {
		exit.KernelDied = c.died()
	}
	next.x.Complete(exit)
}

// begin tells the cell what it runs in.
func (c *codeContext) begin(next *cell) {
	started := wire.Start{KernelStarted: !c.announced}
	c.announced = true
	c.update(func(info *wire.ContextInfo) {
		c.running, c.used = next, true
		info.State, info.LastUsed = wire.ContextBusy, time.Now().UTC()
		info.ExecutionCount++
		started.Context, started.KernelStarts = info.ID, info.Starts
		if started.KernelStarted {
			started.Reason = info.Died
		}
	})
	next.x.Emit(wire.Event{Type: wire.EventStart, Start: &started})
}

// finish lets the context be seen as idle before the cell's end is told.
func (c *codeContext) finish() (count int) {
	c.update(func(info *wire.ContextInfo) {
		c.running = nil
		info.State, info.LastUsed = wire.ContextIdle, time.Now().UTC()
		count = info.ExecutionCount
	})
	return count
}

// died says why the interpreter is gone, if it is.
func (c *codeContext) died() string {
	select {
	case <-c.interpreter.Done():
		return c.interpreter.Died()
	default:
		return ""
	}
}

func (c *codeContext) update(change func(*wire.ContextInfo)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.seen)
}

func (c *codeContext) info() wire.ContextInfo {
	c.mu.Lock()
	defer c.mu.Unlock()
	info := c.seen
	info.Queued = len(c.queue)
	return info
}

// interrupt cancels the cell that runs, or the one that waits for its
// interpreter to start; it is false when there is neither.
func (c *codeContext) interrupt() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	target := c.running
	if target == nil && len(c.queue) > 0 {
		target = c.queue[0]
	}
	if target == nil {
		return false
	}
	target.x.Cancel(wire.StatusCanceled)
	return true
}

// unused says whether the context has never run anything and is not about to.
func (c *codeContext) unused() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.used && len(c.queue) == 0
}
