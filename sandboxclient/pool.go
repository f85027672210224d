package sandboxclient

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
)

// poolApp is the app of sandboxes that run warm and belong to nobody yet.
const poolApp = "pool"

// claim gives a sandbox from the pool to an id that has nothing yet; nil when
// there is none to give. Each is handed out once: it is given away in a flight of
// its own, of which there is one at a time, and after which it is no more.
func (l *lifecycle) claim(ctx context.Context, spec Spec) *link {
	c := l.client
	if c.assigner == nil || l.ref.App == poolApp || spec.Template == "" || spec.Limits != c.opts.Limits {
		return nil
	}
	for _, slot := range c.all() {
		if slot.ref.App != poolApp {
			continue
		}
		given := slot.give()
		if given == nil {
			continue
		}
		link, err := l.adopt(ctx, slot)
		given(err)
		c.wantMore()
		if err == nil {
			return link
		}
		c.opts.Logger.Warn("a sandbox of the pool does not do", "sandbox", slot.id, "error", err)
		c.clear(ctx, slot.id, slot.ref)
		if ctx.Err() != nil || errors.Is(err, ErrExists) {
			return nil
		}
	}
	return nil
}

// give begins to give a sandbox of the pool away, if it is there and ready; the
// function ends that.
func (l *lifecycle) give() func(error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.link == nil || l.busy > 0 || l.flight != nil || l.retired {
		return nil
	}
	l.link.close()
	l.link = nil
	given := make(chan error, 1)
	f := l.fly(&flight{ends: true}, func() error { return <-given })
	return func(err error) {
		l.client.census.leave(l.ref.Owner)
		given <- err
		<-f.done
	}
}

// adopt makes a sandbox that was given this one.
func (l *lifecycle) adopt(ctx context.Context, slot *lifecycle) (*link, error) {
	if err := l.client.assigner.Assign(ctx, slot.id, l.id); err != nil {
		return nil, err
	}
	slot.forget()
	return l.openWithin(ctx, wokenTime)
}

// wantMore has the pool filled soon.
func (c *Client) wantMore() {
	select {
	case c.refill <- struct{}{}:
	default:
	}
}

// fill starts sandboxes until the pool has as many as it shall, one at a time
// and with pauses as long as the starts: others need the processors too. None has
// to make room for what nobody has asked for yet.
func (c *Client) fill(ctx context.Context) {
	for c.assigner != nil && c.pooled() < c.opts.Pool && ctx.Err() == nil && !c.isClosing() && c.hasRoom() {
		began := time.Now()
		ref := Ref{App: poolApp, Name: uuid.NewString(), Ephemeral: true}
		if err := c.Sandbox(ref).Wake(ctx); err != nil {
			return // told by the start; the next round tries again
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Since(began)):
		}
	}
}

// pooled counts the sandboxes of the pool.
func (c *Client) pooled() int {
	n := 0
	for _, l := range c.all() {
		if l.ref.App == poolApp {
			n++
		}
	}
	return n
}
