package sandboxclient

import (
	"context"
	"time"
)

// lost notes that the sandbox behind a link does not answer any more, unless
// that is known already, and clears it away. The next operation starts another.
func (l *lifecycle) lost(dead *link, why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.link != dead || l.flight != nil {
		return
	}
	l.client.opts.Logger.Warn("sandbox lost", "sandbox", l.id, "app", l.ref.App, "why", why)
	l.flyDown(why, l.ref.workspace())
}

// end stops the sandbox if allowed says so while nothing can get in, and gives
// the flight; nil when it was not allowed.
func (l *lifecycle) end(why string, workspace Workspace, allowed func() bool) *flight {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.flight != nil || l.retired || !allowed() {
		return nil
	}
	return l.flyDown(why, workspace)
}

// flyDown begins the end; l.mu is held. Like a start it belongs to nobody's
// request and has a deadline of its own.
func (l *lifecycle) flyDown(why string, workspace Workspace) *flight {
	link := l.link
	l.link = nil
	return l.fly(&flight{ends: true}, func() error { return l.goDown(link, why, workspace) })
}

func (l *lifecycle) goDown(link *link, why string, workspace Workspace) error {
	if link != nil {
		link.close()
		defer l.client.census.leave(l.ref.Owner)
	}
	ctx, cancel := context.WithTimeout(context.Background(), l.client.opts.StartTimeout)
	defer cancel()
	return l.destroy(ctx, why, workspace)
}

// restart ends the sandbox and starts it with an empty memory, in one flight, if
// nobody else uses it; nil when somebody does. Who uses it next is told why.
func (l *lifecycle) restart(why string) *flight {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.flight != nil || l.link == nil || l.busy > 0 {
		return nil
	}
	link := l.link
	l.link = nil
	return l.fly(&flight{}, func() error {
		if err := l.goDown(link, why, KeepWorkspace); err != nil {
			return err
		}
		l.forgot = why
		defer func() { l.forgot = "" }()
		return l.start()
	})
}

func (l *lifecycle) destroy(ctx context.Context, why string, workspace Workspace) error {
	c := l.client
	began := time.Now()
	err := c.opts.Driver.Destroy(ctx, l.id, workspace)
	c.opts.Observe("destroy", observed(err), time.Since(began))
	if err != nil {
		c.opts.Logger.Error("sandbox did not end", "sandbox", l.id, "error", err)
		return &Error{Code: CodeInternal, Op: "destroy", Sandbox: l.id, Message: "The sandbox could not be ended", Err: err}
	}
	c.opts.Logger.Info("sandbox ended", "sandbox", l.id, "app", l.ref.App, "why", why)
	return l.remember(ctx, workspace)
}
