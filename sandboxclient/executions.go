package sandboxclient

import (
	"context"
	"iter"
	"maps"
	"net/http"
	"sync"
	"time"

	"sandgate/sandboxclient/wire"
)

// What is remembered of executions: sandboxd keeps the events, and for a
// shorter time.
const (
	maxTracked  = 10_000
	keepTracked = 10 * time.Minute
)

// executions says in which sandbox an execution is. It is memory alone: what
// runs or is kept in a sandbox is learned from it again when it is taken over.
type executions struct {
	mu   sync.Mutex
	byID map[string]tracked
}

type tracked struct {
	id    ID
	ref   Ref
	ended time.Time // zero while it runs
}

// add remembers an execution that begins.
func (x *executions) add(execution string, id ID, ref Ref) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.byID == nil {
		x.byID = make(map[string]tracked)
	}
	if len(x.byID) >= maxTracked {
		x.forget()
	}
	x.byID[execution] = tracked{id: id, ref: ref}
}

// ended notes the end of an execution.
func (x *executions) ended(execution string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if t, ok := x.byID[execution]; ok {
		t.ended = time.Now()
		x.byID[execution] = t
	}
}

// forget makes room: those go that ended long ago, then those that ended, then
// any. x.mu is held.
func (x *executions) forget() {
	longAgo := func(t tracked) bool { return !t.ended.IsZero() && time.Since(t.ended) > keepTracked }
	ended := func(t tracked) bool { return !t.ended.IsZero() }
	each := func(tracked) bool { return true }
	maps.DeleteFunc(x.byID, func(_ string, t tracked) bool { return longAgo(t) })
	for _, goes := range []func(tracked) bool{ended, each} {
		for id, t := range x.byID {
			if len(x.byID) < maxTracked {
				return
			}
			if goes(t) {
				delete(x.byID, id)
			}
		}
	}
}

// of names the executions of a sandbox.
func (x *executions) of(id ID) []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	var ids []string
	for execution, t := range x.byID {
		if t.id == id {
			ids = append(ids, execution)
		}
	}
	return ids
}

// find gives the sandbox of an owner's execution.
func (c *Client) find(owner, execution string) (*Sandbox, error) {
	c.executions.mu.Lock()
	defer c.executions.mu.Unlock()
	t, ok := c.executions.byID[execution]
	if !ok || t.ref.Owner != owner {
		return nil, NoExecution()
	}
	return &Sandbox{client: c, id: t.id, ref: t.ref}, nil
}

// ExecutionApp names the app in whose sandbox an owner's execution is. Anybody
// else's is not_found.
func (c *Client) ExecutionApp(owner, execution string) (string, error) {
	s, err := c.find(owner, execution)
	if err != nil {
		return "", err
	}
	return s.ref.App, nil
}

// NoExecution is the one answer for what is not there and what is not yours.
func NoExecution() *Error {
	return Errorf(CodeNotFound, "There is no such execution, or it ended too long ago")
}

// Execution tells the state of an owner's execution, running or ended a while
// ago. Anybody else's is not_found, as is one whose sandbox has ended.
func (c *Client) Execution(ctx context.Context, owner, execution string) (Execution, error) {
	var info Execution
	err := c.atExecution(ctx, "execution", owner, execution, func(ctx context.Context, l *link) error {
		return l.call(ctx, http.MethodGet, executionPath(execution), nil, nil, &info)
	})
	return info, err
}

// CancelExecution ends an owner's execution with its whole process tree; its
// events tell when that is done. One that has ended is no error.
func (c *Client) CancelExecution(ctx context.Context, owner, execution string) error {
	return c.atExecution(ctx, "cancel", owner, execution, func(ctx context.Context, l *link) error {
		return l.cancelExecution(ctx, execution)
	})
}

// atExecution does something in the sandbox of an execution if it still runs,
// or sleeps.
func (c *Client) atExecution(ctx context.Context, op, owner, execution string, do func(context.Context, *link) error) error {
	s, err := c.find(owner, execution)
	if err != nil {
		return err
	}
	found := false
	err = s.ifAlive(ctx, op, true, func(ctx context.Context, l *link) error {
		found = true
		return do(ctx, l)
	})
	if err == nil && !found || err != nil && CodeOf(err) == CodeNotFound {
		return NoExecution()
	}
	return err // one that sleeps and finds no room to wake is not gone
}

// FollowExecution gives the events of an owner's execution numbered above
// after: those that are kept, with a gap event in place of the others, then
// those to come; none when the end was before. It ends as RunCodeStream does,
// but leaving it ends nothing.
func (c *Client) FollowExecution(ctx context.Context, owner, execution string, after int64) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		s, err := c.find(owner, execution)
		if err != nil {
			yield(Event{}, err)
			return
		}
		l := launch{op: "follow", id: execution, timeout: c.opts.ceiling(s.ref.App), watch: true, told: s.retell}
		l.open = func(ctx context.Context, l *link) (*http.Response, error) { return l.resume(ctx, execution, after) }
		f := follower{launch: l, sandbox: s, yield: yield, arrived: func() {}, last: after}
		f.conclude(c.atExecution(ctx, l.op, owner, execution, f.follow))
	}
}

// retell says of a cell's start what was said the first time.
func (s *Sandbox) retell(ctx context.Context, _ *link, e *Event) {
	if e.Type == wire.EventStart && e.Start.Context != "" {
		s.tellStart(ctx, new(origin), e.Start.Context, e.Start, false)
	}
}
