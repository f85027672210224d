package sandboxclient

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// A lifecycle is what the client knows of one sandbox that runs, starts or
// ends. There is one for an id at a time, and in it at most one flight: a start
// or an end that everybody who comes meanwhile waits for.
type lifecycle struct {
	client *Client
	id     ID
	ref    Ref

	mu           sync.Mutex
	link         *link     // how to talk to it; nil unless it runs
	flight       *flight   // the start or end under way
	busy         int       // operations holding the link, and those about to
	lastUsed     time.Time // the end of the last operation; zero: none yet
	runsSince    time.Time // when it came to run, or to run on
	saved        time.Time // lastUsed as this gateway wrote it down
	silence      int       // handshakes in a row that were not answered
	refusedSleep time.Time // when it last could not sleep
	forgot       string    // why the start under way has no memory of before; of its flight alone
	retired      bool      // no longer in the client's map; get another

	floor  atomic.Int64   // the memory that it takes or is about to, at least; 0: it was not let in
	asked  sync.WaitGroup // questions on the link that are no use of the sandbox
	saving sync.WaitGroup // writes of the record that the next flight waits for
}

// A flight is one start or end. err is set before done is closed.
type flight struct {
	done chan struct{}
	ends bool // it is an end, whose failure is no answer to who wants a start
	err  error
}

// landed waits for the flight, no longer than ctx, and says whether it is over. A
// flight goes on without those who left.
func (f *flight) landed(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-f.done:
		return true
	}
}

// lifecycle gives the entry of an id, making it when there is none.
func (c *Client) lifecycle(id ID, ref Ref) *lifecycle {
	c.mu.Lock()
	defer c.mu.Unlock()
	l, ok := c.lives[id]
	if !ok {
		l = &lifecycle{client: c, id: id, ref: ref}
		c.lives[id] = l
		if c.seen != nil {
			c.seen[id] = true
		}
	}
	return l
}

// leaseRunning gives a lease on a sandbox if it runs, else nil.
func (c *Client) leaseRunning(id ID) *lease {
	c.mu.Lock()
	l, ok := c.lives[id]
	c.mu.Unlock()
	if !ok {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.leaseLocked()
}

// all gives the entries of this moment.
func (c *Client) all() []*lifecycle {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]*lifecycle, 0, len(c.lives))
	for _, l := range c.lives {
		all = append(all, l)
	}
	return all
}

func (c *Client) isClosing() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closing
}

// A lease is the right to use a running sandbox: it is not idle until every
// lease is released.
type lease struct {
	life *lifecycle
	link *link
	once sync.Once
}

// leaseLocked gives a lease if the sandbox runs, else nil; l.mu is held.
func (l *lifecycle) leaseLocked() *lease {
	if l.link == nil {
		return nil
	}
	l.busy++
	return &lease{life: l, link: l.link}
}

// release ends the lease; more than once is fine.
func (le *lease) release() {
	le.once.Do(func() {
		le.life.mu.Lock()
		defer le.life.mu.Unlock()
		le.life.busy--
		le.life.lastUsed = time.Now()
	})
}

// acquire finds or starts the sandbox. It waits no longer than ctx; a start
// goes on without those who left.
func (c *Client) acquire(ctx context.Context, id ID, ref Ref) (*lease, error) {
	for {
		l := c.lifecycle(id, ref)
		le, f := l.enter()
		switch {
		case le != nil:
			return le, nil
		case f == nil: // retired meanwhile
			continue
		}
		le, err := l.await(ctx, f)
		if le != nil || err != nil {
			return le, err
		}
	}
}

// enter gives a lease on a running sandbox, or the flight to wait for. It
// gives neither when the entry is retired.
func (l *lifecycle) enter() (*lease, *flight) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.retired:
		return nil, nil
	case l.link != nil:
		return l.leaseLocked(), nil
	case l.flight == nil:
		l.fly(&flight{}, l.start)
	}
	l.busy++ // until await has returned: who waits for it will use it
	return nil, l.flight
}

// await waits for a flight that enter gave. It gives a lease if the sandbox runs
// then, and nothing when the caller is to look again.
func (l *lifecycle) await(ctx context.Context, f *flight) (*lease, error) {
	landed := f.landed(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy--
	if !landed {
		return nil, contextError(ctx)
	}
	if f.err != nil && !f.ends {
		return nil, f.err
	}
	return l.leaseLocked(), nil
}

// fly begins a flight; l.mu is held. Its goroutine ends with the flight.
func (l *lifecycle) fly(f *flight, do func() error) *flight {
	f.done = make(chan struct{})
	l.flight = f
	go func() {
		l.saving.Wait() // a moment at most
		err := do()
		l.mu.Lock()
		defer l.mu.Unlock()
		l.flight = nil
		l.retireIfGone()
		f.err = err
		close(f.done)
	}()
	return f
}

// retireIfGone takes the entry out of the map when nothing is left to know.
func (l *lifecycle) retireIfGone() {
	if l.link != nil || l.flight != nil {
		return
	}
	l.retired = true
	l.client.mu.Lock()
	defer l.client.mu.Unlock()
	if l.client.lives[l.id] == l {
		delete(l.client.lives, l.id)
	}
}
