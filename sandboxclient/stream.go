package sandboxclient

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"sandgate/sandboxclient/wire"
)

const (
	// endGrace is what sandboxd may need, beyond a program's own timeout, to
	// end it with its whole tree and to say so: a fork bomb on a busy host takes long.
	endGrace = time.Minute
	// cancelTime bounds the word to sandboxd that nobody listens any more.
	cancelTime = 5 * time.Second
	// maxResumes bounds how often one stream is taken up again in a row.
	maxResumes = 3
)

// A launch is an execution to be started, or to be followed.
type launch struct {
	op      string
	id      string // the execution's
	timeout time.Duration
	detach  bool
	insist  bool                                                 // it is started even if the caller leaves before
	watch   bool                                                 // it was started by somebody else, and is not ours to cancel
	context string                                               // of a cell: where it is to run
	open    func(context.Context, *link) (*http.Response, error) // gives the first events
	told    func(context.Context, *link, *Event)                 // sees each event first, and may add to it
}

// stream starts an execution and gives its events up to the terminal one. An
// error comes alone and first: nothing has been started. Once there was an
// event there is exactly one terminal one, ours if need be.
//
// When ctx ends or the loop is left, the execution is canceled unless it was
// detached; one that insists is started all the same. sandboxd itself never ends one because a connection broke: the
// execution outlives the gateway, and can be followed again.
func (s *Sandbox) stream(ctx context.Context, l launch) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		s.client.executions.add(l.id, s.id, s.ref)
		f := follower{launch: l, sandbox: s, yield: yield}
		f.arrived = s.client.arrivals.expect(contextKey{s.id, l.context})
		defer f.arrived()
		if l.insist {
			var leave func()
			ctx, leave = f.insisting(ctx)
			defer leave()
		}
		f.conclude(s.with(ctx, l.op, f.follow))
	}
}

// insisting gives a context for a start that goes on when the caller leaves, until
// sandboxd has the execution. When the gateway has it end, for a stop, it does.
func (l *launch) insisting(ctx context.Context) (_ context.Context, leave func()) {
	starting, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	begun := make(chan struct{})
	begin := sync.OnceFunc(func() { close(begun) })
	open := l.open
	l.open = func(c context.Context, k *link) (*http.Response, error) {
		resp, err := open(c, k)
		if !errors.Is(err, errDial) { // of which nothing was sent, and which is done once more
			begin()
		}
		return resp, err
	}
	stop := context.AfterFunc(ctx, func() {
		if _, told := errors.AsType[*Error](context.Cause(ctx)); !told {
			select {
			case <-begun:
			case <-starting.Done():
			}
		}
		cancel(context.Cause(ctx))
	})
	return starting, func() { stop(); cancel(nil) }
}

// A follower hands one execution's events on, over as many connections as it takes.
type follower struct {
	launch
	sandbox *Sandbox
	yield   func(Event, error) bool
	link    *link
	arrived func() // sandboxd has it; it can be steered
	last    int64  // number of the newest event handed on
	begun   bool   // an event was handed on
	left    bool   // the loop was left
	started bool   // its start was seen
	end     bool   // so was its end
}

// follow runs an execution to its end. A program is given its timeout from its
// own start on, and sandboxd a grace to tell; waiting for its turn is bounded
// by the ceiling of all timeouts.
func (f *follower) follow(ctx context.Context, l *link) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	overdue := &Error{Code: CodeTimeout, Message: "The sandbox did not answer in time"}
	watchdog := time.AfterFunc(f.sandbox.client.opts.ceiling(f.sandbox.ref.App)+endGrace, func() { cancel(overdue) })
	defer watchdog.Stop()

	f.link = l
	resp, err := f.open(ctx, l)
	if err == nil {
		f.arrived()
		err = f.persist(ctx, l, resp, watchdog)
	}
	f.abandon(ctx, l, err)
	return err
}

// persist reads a started execution to its end. A connection that breaks is
// taken up again where it broke, as long as that gets anywhere.
func (f *follower) persist(ctx context.Context, l *link, resp *http.Response, watchdog *time.Timer) error {
	for resumes := 0; ; resumes++ {
		before := f.last
		err := f.read(ctx, resp, watchdog)
		if err == nil || f.left || ctx.Err() != nil {
			return err
		}
		if f.last > before {
			resumes = 0
		}
		if resumes == maxResumes {
			return l.lostTrack(err)
		}
		if resp, err = l.resume(ctx, f.id, f.last); err != nil {
			return l.lostTrack(err)
		}
	}
}

// lostTrack is the end of an execution that was started and cannot be followed
// any more. The cause is kept as words alone, for what was started must never
// be taken for what can be tried again.
func (l *link) lostTrack(err error) error {
	if l.deleted.Load() {
		return Errorf(CodeConflict, "The sandbox was deleted while this ran")
	}
	message := "The sandbox ended while this ran, perhaps out of memory; the next request starts it again"
	return &Error{Code: CodeUnavailable, Message: message, RetryAfter: retrySoon, Err: errors.New(err.Error())}
}

// read hands on one connection's events; nil means the end was seen.
func (f *follower) read(ctx context.Context, resp *http.Response, watchdog *time.Timer) error {
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusNoContent { // the end was seen before
		f.end = true
		return nil
	}
	reader := wire.NewEventReader(resp.Body, f.last)
	for {
		e, err := reader.Next()
		if err != nil {
			return err
		}
		if err := f.admit(&e); err != nil {
			return err
		}
		if e.Type == wire.EventStart {
			watchdog.Reset(f.timeout + endGrace)
		}
		f.told(ctx, f.link, &e)
		f.last, f.begun = e.Seq, true
		if !f.yield(e, nil) {
			f.left = true
			return context.Canceled
		}
		if e.Terminal() {
			f.end = true
			f.sandbox.client.executions.ended(f.id)
			drain(resp.Body)
			return nil
		}
	}
}

// admit refuses what sandboxd should never say, and makes its failures ones
// that we would tell.
func (f *follower) admit(e *Event) error {
	switch e.Type {
	case wire.EventStart:
		if f.started {
			return badAnswer(errors.New("a second start"))
		}
		f.started = true
	case wire.EventError:
		safe := fromWire(&wire.Error{Code: e.Code, Message: e.Message})
		e.Code, e.Message = string(safe.Code), safe.Message
	}
	return nil
}

// conclude gives the error of an execution as its contract wants it.
func (f *follower) conclude(err error) {
	switch {
	case err == nil || f.left:
	case !f.begun:
		f.yield(Event{}, err)
	default:
		f.yield(f.brokenEnd(err), nil)
	}
}

// abandon tells sandboxd that nobody listens any more, when that is so.
func (f *follower) abandon(ctx context.Context, l *link, err error) {
	if err == nil || f.end || f.watch || errors.Is(err, errDial) || (f.detach && f.gone(ctx)) {
		return
	}
	if _, refused := errors.AsType[*wire.Error](err); refused {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
	defer cancel()
	_ = l.cancelExecution(ctx, f.id) // what does not answer has nothing to end
}

// gone says whether whoever followed has left.
func (f *follower) gone(ctx context.Context) bool {
	return f.left || errors.Is(ctx.Err(), context.Canceled)
}

// brokenEnd is the terminal event of an execution whose own was not seen. It
// has the number of the event before it: who comes back misses nothing.
func (f *follower) brokenEnd(err error) Event {
	e, _ := errors.AsType[*Error](err)
	return Event{Seq: f.last, Type: wire.EventError, Time: time.Now().UTC(), Code: string(e.Code), Message: e.Message}
}

// resume follows an execution again from a number on.
func (l *link) resume(ctx context.Context, id string, after int64) (*http.Response, error) {
	return l.do(ctx, request{
		method: http.MethodGet,
		path:   executionPath(id) + "/events",
		query:  url.Values{"after": {strconv.FormatInt(after, 10)}},
	})
}

func (l *link) cancelExecution(ctx context.Context, id string) error {
	return l.call(ctx, http.MethodDelete, executionPath(id), nil, nil, nil)
}

func executionPath(id string) string { return "/v1/executions/" + url.PathEscape(id) }

// collect reads a stream to its end into a transcript.
func collect(events iter.Seq2[Event, error], keep int64) (*transcript, error) {
	t := newTranscript(keep)
	for e, err := range events {
		if err != nil {
			return nil, err
		}
		if e.Type == wire.EventError {
			return nil, &Error{Code: Code(e.Code), Message: e.Message, RetryAfter: retryAfter(Code(e.Code))}
		}
		t.take(e)
	}
	return t, nil
}

// timeout applies the default and the ceiling.
func (s *Sandbox) timeout(asked time.Duration) time.Duration {
	return min(orDefault(asked, s.client.opts.DefaultTimeout), s.client.opts.ceiling(s.ref.App))
}
