package execution

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"sandgate/internal/sandboxd/awake"
	"sandgate/sandboxclient/wire"
)

// Kinds of executions.
const (
	Exec = "exec"
	Cell = "cell"
)

// What an execution's output may be when its request does not say.
const (
	defaultKeep = 10 << 20
	defaultMax  = 1 << 30
)

// An Execution is one run of a command or a cell.
type Execution struct {
	id      string
	kind    string
	created time.Time
	clock   *awake.Clock
	log     *Log
	ctx     context.Context
	cancel  context.CancelCauseFunc
	ended   func(*Execution) // told once, after the terminal event
	shed    func()           // makes room for more events

	mu        sync.Mutex
	keep, max int64
	kept      int64 // bytes of output in events
	borne     int64 // bytes of output that came
	truncated bool
	finished  bool
	halves    halves
	outcome   atomic.Pointer[outcome] // for who asks while output waits for the disk

	expiry *awake.Timer // the registry's
}

// An outcome is how an execution ended.
type outcome struct {
	exit    *wire.Exit
	failure *wire.Error
}

// Context ends when the execution is to end; its cause is then a wire.Status.
func (x *Execution) Context() context.Context { return x.ctx }

// Within gives a context that ends with the execution's, or after the timeout,
// which is then told as timed out. Time in which the sandbox sleeps does not
// count. 0: there is no timeout.
func (x *Execution) Within(timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout <= 0 {
		return context.WithCancel(x.ctx)
	}
	return x.clock.WithTimeout(x.ctx, timeout, wire.StatusTimedOut)
}

// Stopwatch gives the time since the call, in milliseconds, without the time in
// which the sandbox slept.
func (x *Execution) Stopwatch() (elapsedMS func() float64) {
	elapsed := x.clock.Stopwatch()
	return func() float64 { return float64(elapsed().Microseconds()) / 1000 }
}

// Cancel asks for the end, which is then told with the status.
func (x *Execution) Cancel(status wire.Status) { x.cancel(status) }

// Follow reads the events numbered above after. Whoever follows an execution
// that may have ended asks the [Registry] instead.
func (x *Execution) Follow(after int64) *Reader { return x.log.follow(after) }

// Emit adds an event; Seq and Time are set here. Its data may be used again by
// the caller. Output beyond the bounds is dropped, or ends the execution.
func (x *Execution) Emit(e wire.Event) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.finished {
		return
	}
	size := weight(e)
	if x.borne += size; x.borne > x.max {
		x.cancel(wire.StatusOutputLimited)
	}
	if x.truncated && size > 0 {
		return
	}
	if left := x.keep - x.kept; size > left {
		x.truncate(e, left)
		return
	}
	x.kept += size
	x.add(e)
}

// truncate keeps what there is still room for, and tells that the rest is not.
func (x *Execution) truncate(e wire.Event, left int64) {
	x.truncated = true
	if e.Result == nil && left > 0 {
		e.Data = e.Data[:left]
		x.add(e)
	}
	clear(x.halves) // what follows is dropped
	x.add(wire.Event{
		Type:    wire.EventWarning,
		Code:    "output_truncated",
		Message: "The output is longer than what is kept; the rest of it is dropped",
	})
}

// add splits output into chunks.
func (x *Execution) add(e wire.Event) {
	e.Time = time.Now().UTC()
	if x.log.cramped() {
		x.shed()
	}
	if !isOutput(e) {
		x.log.append(e)
		return
	}
	for data := x.halves.complete(e); len(data) > 0; {
		n := min(len(data), wire.MaxChunk)
		if n < len(data) {
			n -= half(data[:n])
		}
		e.Data, data = data[:n], data[n:]
		x.log.append(e)
	}
}

// weight is what an event counts as output.
func weight(e wire.Event) int64 {
	if e.Result != nil {
		return e.Result.Size()
	}
	return int64(len(e.Data))
}

// Complete ends the execution: the program ended.
func (x *Execution) Complete(exit wire.Exit) {
	x.finish(func() (wire.Event, outcome) {
		exit.Truncated = exit.Truncated || x.truncated
		return wire.Event{Type: wire.EventComplete, Exit: &exit}, outcome{exit: &exit}
	})
}

// Fail ends the execution: we could not do it.
func (x *Execution) Fail(err *wire.Error) {
	x.finish(func() (wire.Event, outcome) {
		return wire.Event{Type: wire.EventError, Code: err.Code, Message: err.Message}, outcome{failure: err}
	})
}

// finish ends an execution once.
func (x *Execution) finish(terminal func() (wire.Event, outcome)) {
	x.mu.Lock()
	if x.finished {
		x.mu.Unlock()
		return
	}
	x.finished = true
	for _, e := range x.halves.rest() {
		e.Time = time.Now().UTC()
		x.log.append(e)
	}
	e, o := terminal()
	x.add(e)
	x.outcome.Store(&o)
	x.mu.Unlock()
	x.cancel(nil)
	x.ended(x)
}

// Info tells the execution's state. It waits for no output.
func (x *Execution) Info() wire.ExecutionInfo {
	info := wire.ExecutionInfo{ID: x.id, Kind: x.kind, CreatedAt: x.created}
	if o := x.outcome.Load(); o != nil {
		info.Exit, info.Error = o.exit, o.failure
	}
	info.FirstSeq, info.LastSeq = x.log.span()
	return info
}

// Cause gives the status with which the context was ended, if it was by us.
func Cause(ctx context.Context) (wire.Status, bool) {
	return errors.AsType[wire.Status](context.Cause(ctx))
}
