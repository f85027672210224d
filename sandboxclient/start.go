package sandboxclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

// start records and creates the sandbox and shakes hands with it. It belongs
// to nobody's request, so it has a deadline of its own.
func (l *lifecycle) start() error {
	c := l.client
	ctx, cancel := context.WithTimeout(context.Background(), c.opts.QueueTime+wakeTime+wokenTime+c.opts.StartTimeout)
	defer cancel()
	began := time.Now()
	link, err := l.enterAndCreate(ctx)
	c.opts.Observe("start", observed(err), time.Since(began))
	if err != nil {
		c.opts.Logger.Log(ctx, levelOf(err), "sandbox did not start", "sandbox", l.id, "app", l.ref.App, "error", err)
		return startError(l.id, err)
	}
	c.opts.Logger.Info("sandbox started", "sandbox", l.id, "app", l.ref.App, "took", time.Since(began))
	l.opened(link)
	return nil
}

// enterAndCreate creates the sandbox if the census lets one more exist and run.
func (l *lifecycle) enterAndCreate(ctx context.Context) (*link, error) {
	census := l.client.census
	isNew, err := census.admit(l.id, l.ref)
	if err != nil {
		return nil, err
	}
	link, err := l.enterAndCreateCounted(ctx, isNew)
	if err != nil && isNew {
		l.forget()
	}
	return link, err
}

func (l *lifecycle) enterAndCreateCounted(ctx context.Context, isNew bool) (*link, error) {
	census := l.client.census
	if err := l.client.enter(ctx, l); err != nil {
		return nil, err
	}
	if l.client.isClosing() { // it may have waited for its turn
		census.leave(l.ref.Owner)
		return nil, &Error{Code: CodeUnavailable, Message: "The gateway is stopping", RetryAfter: 5 * time.Second}
	}
	link, err := l.create(ctx, isNew)
	if err != nil {
		census.leave(l.ref.Owner)
	}
	if err != nil && l.ref.Ephemeral { // nobody would look for its workspace
		l.discard()
	}
	return link, err
}

// create makes the sandbox; what fails half-way is destroyed again.
func (l *lifecycle) create(ctx context.Context, isNew bool) (*link, error) {
	c := l.client
	now := time.Now()
	record := Record{ID: l.id, Ref: l.ref, CreatedAt: now, LastUsed: now}
	if err := c.opts.Records.SaveSandbox(ctx, record); err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	l.recorded(now)
	spec := c.spec(l.id, l.ref)
	link, lost, err := l.wake(ctx, spec)
	if err != nil {
		return nil, err
	}
	if link == nil && isNew {
		link = l.claim(ctx, spec)
	}
	if link != nil {
		return link, nil
	}
	link, err = l.createAnew(ctx, spec)
	if err == nil {
		link.origin.lost = cmp.Or(lost, l.forgot)
	}
	return link, err
}

// createAnew makes the sandbox with nothing in its memory.
func (l *lifecycle) createAnew(ctx context.Context, spec Spec) (*link, error) {
	c, driver := l.client, l.client.opts.Driver
	err := driver.Create(ctx, spec)
	if errors.Is(err, ErrExists) { // a dead one that was not cleared, or one that we gave up
		if err := driver.Destroy(ctx, l.id, KeepWorkspace); err != nil {
			return nil, fmt.Errorf("clear the one before: %w", err)
		}
		err = driver.Create(ctx, spec)
	}
	if err != nil {
		return nil, fmt.Errorf("create: %w", err)
	}
	bound := c.opts.StartTimeout
	if spec.Template != "" {
		bound = wokenTime
	}
	link, err := l.openWithin(ctx, bound)
	if err != nil && spec.Template != "" && ctx.Err() == nil {
		return l.createCold(ctx, spec)
	}
	return link, err
}

// createCold makes a sandbox that did not answer when it began warm. If it answers
// now, and soon, that was not for want of time: the template is of no use.
func (l *lifecycle) createCold(ctx context.Context, spec Spec) (*link, error) {
	cold := spec
	cold.Template = ""
	began := time.Now()
	link, err := l.createAnew(ctx, cold)
	if err == nil && time.Since(began) < wokenTime/2 {
		l.client.opts.Logger.Warn("what begins warm does not answer: the template is given up", "sandbox", l.id)
		l.client.templater.DropTemplate(spec)
	}
	return link, err
}

// openWithin is open with a bound.
func (l *lifecycle) openWithin(ctx context.Context, bound time.Duration) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	return l.open(ctx)
}

// open shakes hands with a sandbox that has just been started. One that does not
// answer is destroyed.
func (l *lifecycle) open(ctx context.Context) (*link, error) {
	link := newLink(l.client.opts.Driver, l.id)
	if err := l.greet(ctx, link); err != nil {
		link.close()
		l.discard()
		return nil, fmt.Errorf("handshake: %w", err)
	}
	return link, nil
}

// greet waits until a new sandbox answers, and gives it its way out.
func (l *lifecycle) greet(ctx context.Context, link *link) error {
	err := insist(ctx, func() (final bool, err error) {
		_, err = link.health(ctx)
		return answered(err), err
	})
	if err != nil {
		return err
	}
	return l.client.openEgress(ctx, l.id, l.ref, link)
}

// opened notes that the sandbox runs, and where to talk to it.
func (l *lifecycle) opened(link *link) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.link, l.silence, l.runsSince = link, 0, time.Now()
	l.floor.Store(freshBytes / 2)
}

// discard destroys what a failed start left. The start's own deadline may be
// what failed, so clearing up has another.
func (l *lifecycle) discard() {
	ctx, cancel := context.WithTimeout(context.Background(), l.client.opts.StartTimeout)
	defer cancel()
	if err := l.client.opts.Driver.Destroy(ctx, l.id, l.ref.workspace()); err != nil {
		l.client.opts.Logger.Error("failed start was not cleared", "sandbox", l.id, "error", err)
	}
}
