package sandboxclient

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
)

// Close refuses new work and lets every sandbox sleep, or ends it where nothing
// can sleep; workspaces are kept. What still runs is cut off, so let requests end
// before; executions that sleep go on when somebody asks for them. It waits no
// longer than ctx, and begins nothing after that: what runs on is for a later
// gateway to take over.
func (c *Client) Close(ctx context.Context) error {
	c.mu.Lock()
	c.closing = true
	c.mu.Unlock()
	var group errgroup.Group // one that cannot end must not cut short the others
	group.SetLimit(atOnce)
	for _, l := range c.all() {
		group.Go(func() error { return l.shut(ctx) })
	}
	return group.Wait()
}

// shut waits for a flight under way, then ends what runs.
func (l *lifecycle) shut(ctx context.Context) error {
	down := l.rest
	for {
		f := l.underWay()
		if f == nil && ctx.Err() != nil && l.peek() != nil {
			return errors.Join(ctx.Err(), fmt.Errorf("sandbox %s runs on", l.id))
		}
		if f == nil {
			f = down("the gateway stops", func() bool { return l.link != nil })
		}
		if f == nil {
			return nil
		}
		if !f.landed(ctx) {
			return errors.Join(ctx.Err(), fmt.Errorf("sandbox %s still ends", l.id))
		}
		if l.peek() == nil && l.underWay() == nil {
			if !f.ends { // a start that came too late is told to who wanted it
				return nil
			}
			return f.err
		}
		if errors.Is(f.err, ErrAwake) {
			down = func(why string, allowed func() bool) *flight { return l.end(why, l.ref.workspace(), allowed) }
		}
	}
}

func (l *lifecycle) underWay() *flight {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.flight
}

// Destroy ends the sandbox, whatever runs in it, and its workspace if asked.
// One that does not run, or never did, is no error.
func (s *Sandbox) Destroy(ctx context.Context, workspace Workspace) error {
	return s.observe(ctx, "destroy sandbox", func() error { return s.destroy(ctx, workspace) })
}

func (s *Sandbox) destroy(ctx context.Context, workspace Workspace) error {
	for {
		l := s.client.lifecycle(s.id, s.ref)
		mine := true
		f := l.end("destroyed", workspace, l.deleteLocked)
		if f == nil {
			f, mine = l.underWay(), false
		}
		if f == nil {
			continue // retired, or landed just now: look again
		}
		if !f.landed(ctx) {
			return contextError(ctx)
		}
		if mine {
			return f.err
		}
	}
}

// deleteLocked lets those whose work ends with the sandbox be told why; l.mu is
// held.
func (l *lifecycle) deleteLocked() bool {
	if l.link != nil {
		l.link.deleted.Store(true)
	}
	return true
}
