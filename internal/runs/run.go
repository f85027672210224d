package runs

import (
	"context"
	"errors"
	"sync"
	"time"

	"sandgate/internal/runlog"
	"sandgate/sandboxclient"
	"sandgate/sandboxclient/wire"
)

// A run is one that has not ended, or is not yet put away. Its goroutine alone
// writes its log.
type run struct {
	engine *Engine
	owner  string
	id     string
	events *runlog.Log

	source  sandboxclient.Checkout
	promise promise
	sandbox Sandbox
	tests   *testWatch
	past    past      // what was done before a restart of the gateway
	testing time.Time // when the tests began

	ctx context.Context // ends, with its cause, when the run is to end
	end context.CancelCauseFunc

	printed       int64 // bytes of output in the log
	toldTruncated bool

	mu      sync.Mutex
	state   State
	summary Summary
}

func (e *Engine) newRun(owner, id string, log *runlog.Log) *run {
	r := &run{engine: e, owner: owner, id: id, events: log, state: StateQueued, sandbox: e.opts.Open(owner, id)}
	r.ctx, r.end = context.WithCancelCause(e.ctx)
	r.tests = newTestWatch(e.opts.ExitGrace, r.idle, func() { r.end(errDidNotExit) })
	return r
}

// Why a run is to end, beside errStopping.
var (
	errCanceled   = errors.New("the run was canceled")
	errDidNotExit = errors.New("the program printed its summary and did not exit")
)

// snapshot gives the summary as it is.
func (r *run) snapshot() Summary {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.summary
}

// change changes the summary; its lists are replaced, never changed.
func (r *run) change(do func(*Summary)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	do(&r.summary)
}

// save writes the record as it is.
func (r *run) save(ctx context.Context) error {
	r.mu.Lock()
	state, summary := r.state, r.summary
	r.mu.Unlock()
	rec, err := record(r.owner, state, summary, r.promise)
	if err != nil {
		return err
	}
	if state == StateEnded { // the log grows no more, and is kept as long as the record
		rec.ObjectBytes += r.events.Size()
	}
	return r.engine.opts.Records.SaveRun(ctx, rec)
}

// mark changes the summary and writes it down. The log can tell what a record
// that was not written would have, so that is no reason to end.
func (r *run) mark(do func(*Summary)) {
	r.change(do)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), saveTime)
	defer cancel()
	if err := r.save(ctx); err != nil {
		r.engine.opts.Logger.Error("record of a run was not written", "run", r.id, "error", err)
	}
}

// saveTime bounds a write to the database.
const saveTime = 5 * time.Second

// say adds an event of the engine's own to the log.
func (r *run) say(event any) error { return r.note(0, event) }

// note adds an event that came from the sandbox's own one with that number. A
// log that cannot be written ends the run.
func (r *run) note(source int64, event any) error {
	if _, err := r.events.Append(source, encode(event)); err != nil {
		err = storageError(err)
		r.end(err)
		return err
	}
	return nil
}

func (r *run) tellStart() error {
	s := r.summary
	return r.say(startEvent{newHead(wire.EventStart, s.CreatedAt), s.ID, s.Repository, s.Ref, s.Command, s.Restored})
}

func (r *run) tellPosition(position int) error {
	return r.say(queuedEvent{newHead(eventQueued, now()), position})
}

func (r *run) warn(source int64, code, message string) error {
	return r.note(source, warningEvent{newHead(wire.EventWarning, now()), code, message})
}

// deadline is when the run must have ended.
func (r *run) deadline() time.Time {
	return r.snapshot().StartedAt.Add(time.Duration(r.promise.TimeoutMS) * time.Millisecond)
}

// storageError tells a full disk from other failures of the gateway's own.
func storageError(err error) error {
	if _, ok := errors.AsType[*sandboxclient.Error](err); ok {
		return err
	}
	if errors.Is(err, runlog.ErrNoSpace) {
		return &sandboxclient.Error{Code: sandboxclient.CodeNoSpace, Message: "The disk of this gateway is full", Err: err}
	}
	return &sandboxclient.Error{Code: sandboxclient.CodeInternal, Message: "The run's log could not be written", Err: err}
}
