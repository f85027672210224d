package sandboxclient

import (
	"context"
	"errors"
	"time"
)

// with runs one operation on the sandbox, which is started if need be.
func (s *Sandbox) with(ctx context.Context, op string, do func(context.Context, *link) error) error {
	return s.holding(ctx, op, func(ctx context.Context, le *lease) error {
		defer le.release()
		return do(ctx, le.link)
	})
}

// holding is with for an operation whose answer goes on using the sandbox: if
// it succeeds, the lease is its own to release. An operation of which nothing
// was sent, because the sandbox had died unnoticed, is done once more on a new
// one.
func (s *Sandbox) holding(ctx context.Context, op string, do func(context.Context, *lease) error) error {
	return s.observe(ctx, op, func() error {
		err := s.attempt(ctx, do)
		if errors.Is(err, errDial) && ctx.Err() == nil {
			err = s.attempt(ctx, do)
		}
		return err
	})
}

func (s *Sandbox) attempt(ctx context.Context, do func(context.Context, *lease) error) error {
	le, err := s.client.acquire(ctx, s.id, s.ref)
	if err != nil {
		return err
	}
	return s.client.use(ctx, le, do)
}

// ifRunning runs an operation on a sandbox that runs already; on one that does
// not it does nothing and succeeds.
func (s *Sandbox) ifRunning(ctx context.Context, op string, do func(context.Context, *link) error) error {
	return s.observe(ctx, op, func() error {
		le := s.client.leaseRunning(s.id)
		if le == nil {
			return nil
		}
		return s.client.use(ctx, le, func(ctx context.Context, le *lease) error {
			defer le.release()
			return do(ctx, le.link)
		})
	})
}

// ifAlive runs an operation on a sandbox that runs, or sleeps and is woken for
// it; on any other it does nothing and succeeds. With before it is about what the
// sandbox did before, and waits for one that starts.
func (s *Sandbox) ifAlive(ctx context.Context, op string, before bool, do func(context.Context, *link) error) error {
	return s.observe(ctx, op, func() error {
		alive, err := s.client.alive(ctx, s.id, before)
		if !alive || err != nil {
			return err
		}
		return s.attempt(ctx, func(ctx context.Context, le *lease) error {
			defer le.release()
			return do(ctx, le.link)
		})
	})
}

// use runs an operation under its lease. When it breaks, whether the sandbox
// lives is found out, and the lease released.
func (c *Client) use(ctx context.Context, le *lease, do func(context.Context, *lease) error) error {
	err := do(ctx, le)
	if err != nil {
		c.examine(ctx, le, err)
		le.release()
	}
	return err
}

// examine looks at an operation that broke. Only an answer from sandboxd means
// that the sandbox lives; a caller who left is no sign of its death, nor is one
// answer that does not come.
func (c *Client) examine(ctx context.Context, le *lease, err error) {
	if answered(err) || errors.Is(ctx.Err(), context.Canceled) {
		return
	}
	// The caller's deadline may have passed; the question has one of its own.
	_, dead := le.link.alive(context.WithoutCancel(ctx))
	if le.life.tooSilent(le.link, dead) {
		le.life.lost(le.link, err.Error())
	}
}

// observe gives an operation's error its public form and tells the outcome.
func (s *Sandbox) observe(ctx context.Context, op string, do func() error) error {
	began := time.Now()
	err := s.failure(ctx, op, do())
	s.client.opts.Observe(op, observed(err), time.Since(began))
	return err
}
