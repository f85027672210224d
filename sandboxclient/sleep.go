package sandboxclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

const (
	// wakeTime bounds how long a memory may take to be read, and wokenTime how
	// long a sandbox that began with one may take to answer, before it is made
	// anew. A machine that is slow is no reason to lose a memory.
	wakeTime  = time.Minute
	wokenTime = 20 * time.Second
	// sleepTime bounds how long a memory may take to be written, with the wait for
	// what others leave of the disk.
	sleepTime = 2*time.Minute + 20*time.Second
)

// An origin is how a sandbox came about: what the first cells of its code
// contexts are told.
type origin struct {
	woken bool   // it was asleep
	lost  string // why what it had in memory is gone; "" if it had nothing

	mu   sync.Mutex
	told map[string]bool // code contexts that have had a cell since it woke
}

// first says whether a cell is the first in its code context since the sandbox
// woke.
func (o *origin) first(codeContext string) bool {
	if !o.woken {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.told[codeContext] {
		return false
	}
	if o.told == nil {
		o.told = make(map[string]bool)
	}
	o.told[codeContext] = true
	return true
}

// wake lets a hibernated sandbox go on. Without a link it has to be made anew;
// lost says why, if it had anything in memory. After an error it sleeps on.
func (l *lifecycle) wake(ctx context.Context, spec Spec) (_ *link, lost string, _ error) {
	c := l.client
	if c.hibernator == nil {
		return nil, "", nil
	}
	began := time.Now()
	err := c.readMemory(ctx, spec)
	if errors.Is(err, ErrNotAsleep) {
		return nil, "", nil
	}
	loss, isLost := errors.AsType[*LostError](err)
	var link *link
	switch {
	case err == nil:
		lost = "its memory could not be brought back"
		link, err = l.openWithin(ctx, wokenTime)
	case isLost:
		lost = loss.Why
	}
	c.opts.Observe("wake", observed(err), time.Since(began))
	switch {
	case err == nil:
		link.origin.woken = true
		return link, "", nil
	case lost == "":
		return nil, "", fmt.Errorf("wake: %w", err)
	}
	c.opts.Logger.Warn("sandbox did not wake: it starts anew", "sandbox", l.id, "app", l.ref.App, "error", err)
	return nil, lost, nil
}

// readMemory has the driver wake a sandbox.
func (c *Client) readMemory(ctx context.Context, spec Spec) error {
	ctx, cancel := context.WithTimeout(ctx, wakeTime)
	defer cancel()
	return c.hibernator.Wake(ctx, spec)
}

// rest lets a sandbox sleep if allowed says so while nothing can get in, and
// gives the flight; nil when it was not allowed. What cannot sleep, or is not to
// last, ends. A flight whose error is ErrAwake has changed nothing.
func (l *lifecycle) rest(why string, allowed func() bool) *flight {
	if !l.canSleep() {
		return l.end(why, l.ref.workspace(), allowed)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.flight != nil || l.retired || l.link == nil || !allowed() {
		return nil
	}
	link := l.link
	l.link = nil
	return l.fly(&flight{ends: true}, func() error { return l.sleep(link, why) })
}

// canSleep says whether the sandbox sleeps where another would end.
func (l *lifecycle) canSleep() bool { return l.client.hibernator != nil && !l.ref.Ephemeral }

// sleep puts the sandbox behind a link to disk.
func (l *lifecycle) sleep(link *link, why string) error {
	c := l.client
	ctx, cancel := context.WithTimeout(context.Background(), sleepTime)
	defer cancel()
	began := time.Now()
	l.asked.Wait() // a second at most
	link.settle(ctx)
	link.close()
	err := c.hibernator.Hibernate(ctx, l.id, c.note(l.id))
	c.opts.Observe("hibernate", observed(err), time.Since(began))
	if errors.Is(err, ErrAwake) {
		c.opts.Logger.Warn("sandbox cannot sleep", "sandbox", l.id, "app", l.ref.App, "error", err)
		link.unsettle(ctx)
		l.opened(link)
		l.hasRefusedSleep()
		return err
	}
	defer c.census.leave(l.ref.Owner)
	if err != nil {
		c.opts.Logger.Error("sandbox was lost on its way to sleep", "sandbox", l.id, "app", l.ref.App, "error", err)
		return errors.Join(err, l.save(ctx))
	}
	c.opts.Logger.Info("sandbox sleeps", "sandbox", l.id, "app", l.ref.App, "why", why, "took", time.Since(began))
	return l.save(ctx)
}

// hasRefusedSleep notes that the sandbox could not sleep.
func (l *lifecycle) hasRefusedSleep() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refusedSleep = time.Now()
}

// settleTime bounds what sandboxd may take to prepare for its sleep, or to undo that.
const settleTime = 5 * time.Second

// settle has sandboxd prepare for its sleep, which is only slower without that.
func (l *link) settle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	_ = l.call(ctx, http.MethodPost, "/v1/sleep", nil, nil, nil)
}

// unsettle tells sandboxd that its sandbox stays awake. Without that, its own files
// keep the names that they were given in the workspace until it does sleep.
func (l *link) unsettle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	_ = l.call(ctx, http.MethodDelete, "/v1/sleep", nil, nil, nil)
}

// A note is what the client wants to know of a sandbox that slept while the
// gateway was another.
type note struct {
	Executions []string `json:"executions,omitempty"`
}

func (c *Client) note(id ID) []byte {
	data, _ := json.Marshal(note{Executions: c.executions.of(id)}) // strings alone: it cannot fail
	return data
}

// recall takes up what was noted of a sandbox that sleeps.
func (c *Client) recall(id ID, ref Ref) {
	if c.hibernator == nil {
		return
	}
	slept, err := c.hibernator.Asleep(id)
	if err != nil {
		return
	}
	var n note
	if json.Unmarshal(slept.Note, &n) != nil {
		return
	}
	for _, execution := range n.Executions {
		c.executions.add(execution, id, ref)
	}
}

// alive says whether a sandbox runs or sleeps. An end under way, which may be a
// sleep, is waited for. One that starts does nothing yet that could be meant; it
// is waited for if what it did before is meant.
func (c *Client) alive(ctx context.Context, id ID, before bool) (bool, error) {
	for {
		c.mu.Lock()
		l, ok := c.lives[id]
		c.mu.Unlock()
		if !ok {
			return c.asleep(id), nil
		}
		if l.peek() != nil {
			return true, nil
		}
		f := l.underWay()
		if f == nil {
			continue // it landed just now
		}
		if !f.ends && !before {
			return false, nil
		}
		if !f.landed(ctx) {
			return false, contextError(ctx)
		}
	}
}

// asleep says whether a sandbox sleeps; in doubt it does.
func (c *Client) asleep(id ID) bool {
	if c.hibernator == nil {
		return false
	}
	_, err := c.hibernator.Asleep(id)
	return !errors.Is(err, ErrNotAsleep)
}
