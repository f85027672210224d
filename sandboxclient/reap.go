package sandboxclient

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"sandgate/sandboxclient/wire"
)

// atOnce bounds how many sandboxes are looked at, or ended, at the same time.
const atOnce = 8

// Reap lets sandboxes sleep that were idle for Options.SleepAfter, or ends them
// where nothing can sleep, and writes down when the others were last used, until
// ctx ends.
//
// It also looks after the rest: a sandbox whose sandboxd does not answer any
// more is replaced, what the engine has and nobody knows of is ended, and what
// was not used for Options.Retention is destroyed. What is on its way down when ctx
// ends goes on: Close waits for it.
//
// Each goes at its own pace: a thousand that go to sleep hold up nothing else.
func (c *Client) Reap(ctx context.Context) {
	idlePause := min(max(c.opts.SleepAfter/10, 100*time.Millisecond), 30*time.Second)
	var loops sync.WaitGroup // each ends with ctx
	loops.Go(func() {
		every(ctx, idlePause, func() { c.each(ctx, func(l *lifecycle) { c.reapIdle(ctx, l) }) })
	})
	loops.Go(func() {
		every(ctx, vigilEvery, func() { c.each(ctx, func(l *lifecycle) { c.watchOver(ctx, l) }) })
	})
	loops.Go(func() { every(ctx, c.reconcilePause(), func() { c.reconcile(ctx) }) })
	loops.Wait()
}

// every does something again and again, with pauses, until ctx ends.
func every(ctx context.Context, pause time.Duration, do func()) {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			do()
		}
	}
}

const (
	vigilEvery     = 5 * time.Second
	reconcileEvery = time.Minute
	// maxSilence is how often in a row a sandbox may fail to answer within a
	// second before it is given up: a fork bomb makes it slow, not dead.
	maxSilence = 3
)

// reconcilePause is a minute, or less where less matters.
func (c *Client) reconcilePause() time.Duration {
	if c.opts.Retention <= 0 {
		return reconcileEvery
	}
	return min(reconcileEvery, max(c.opts.Retention/10, 100*time.Millisecond))
}

// watchOver asks a busy sandbox whether it lives. An idle one is asked by its
// next request.
func (c *Client) watchOver(ctx context.Context, l *lifecycle) {
	if !l.busyNow() {
		return
	}
	link, _, err := l.ask(ctx)
	if link == nil {
		return
	}
	if ctx.Err() != nil || !l.tooSilent(link, err) {
		return
	}
	l.lost(link, "it does not answer any more")
}

// busyNow says whether the sandbox is in use.
func (l *lifecycle) busyNow() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.busy > 0
}

// ask shakes hands with the sandbox without using it: it may go to sleep as soon
// as it has answered. There is no link unless it runs.
func (l *lifecycle) ask(ctx context.Context) (*link, wire.Health, error) {
	l.mu.Lock()
	link := l.link
	if link == nil {
		l.mu.Unlock()
		return nil, wire.Health{}, nil
	}
	l.asked.Add(1)
	l.mu.Unlock()
	defer l.asked.Done()
	health, err := link.alive(ctx)
	return link, health, err
}

// tooSilent counts answers that did not come, and says whether to give the
// sandbox up. One that answers with an error lives; what the driver knows to be
// gone needs no counting.
func (l *lifecycle) tooSilent(link *link, err error) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.link != link || err == nil || answered(err) {
		l.silence = 0
		return false
	}
	l.silence++
	return l.silence >= maxSilence || errors.Is(err, ErrGone)
}

// reconcile ends what the engine has and no lifecycle knows of: what could not
// be ended before, say.
func (c *Client) reconcile(ctx context.Context) {
	c.see(make(map[ID]bool))
	defer c.see(nil)
	ids, err := c.opts.Driver.List(ctx)
	if err != nil {
		c.opts.Logger.Error("sandboxes cannot be listed", "error", err)
		return
	}
	records, err := c.opts.Records.ListSandboxes(ctx, Which{})
	if err != nil {
		c.opts.Logger.Error("records cannot be listed", "error", err)
		return
	}
	refs := make(map[ID]Ref, len(records))
	for _, r := range records {
		refs[r.ID] = r.Ref
	}
	for _, id := range ids {
		if ctx.Err() != nil {
			return
		}
		if !c.knows(id) && !c.asleep(id) { // it may have gone to sleep since it was listed
			c.clear(ctx, id, refs[id])
		}
	}
	c.retire(ctx, records)
}

func (c *Client) knows(id ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.lives[id]
	return ok
}

// each does something with every entry, some at the same time, until ctx ends.
func (c *Client) each(ctx context.Context, do func(*lifecycle)) {
	var group errgroup.Group
	group.SetLimit(atOnce)
	for _, l := range c.all() {
		group.Go(func() error {
			if ctx.Err() == nil {
				do(l)
			}
			return nil
		})
	}
	_ = group.Wait()
}

// reapIdle ends one sandbox if nothing ran in it long enough; what sandboxd
// still runs for nobody counts as work.
func (c *Client) reapIdle(ctx context.Context, l *lifecycle) {
	if err := l.saveIfRunning(ctx); err != nil {
		c.opts.Logger.Error("last use was not recorded", "sandbox", l.id, "error", err)
	}
	if l.ref.App == poolApp || !l.idle(c.opts.SleepAfter) || c.stillWorks(ctx, l) {
		return
	}
	why := fmt.Sprintf("idle for %s", c.opts.SleepAfter)
	if f := l.rest(why, l.idleLocked(c.opts.SleepAfter)); f != nil {
		f.landed(ctx)
	}
}

// stillWorks asks sandboxd whether detached executions run, or processes in the
// background that count. Work counts as use. One that does not answer may work
// until it was silent for too long, and so may one whose answer nobody waited for.
func (c *Client) stillWorks(ctx context.Context, l *lifecycle) bool {
	link, health, err := l.ask(ctx)
	if link == nil {
		return false
	}
	if ctx.Err() != nil {
		return true
	}
	silent := l.tooSilent(link, err)
	if errors.Is(err, ErrGone) { // nobody would use one that is dead and idle, and so find out
		l.lost(link, "it died while it was idle")
		return true
	}
	if err != nil {
		return !silent
	}
	if health.Busy == 0 && !(c.opts.StayAwake && health.Background > 0) {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lastUsed = time.Now()
	return true
}

// peek gives the link without using the sandbox.
func (l *lifecycle) peek() *link {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.link
}

func (l *lifecycle) idle(after time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.idleLocked(after)()
}

// idleLocked asks, with l.mu held, whether the sandbox runs and is idle.
func (l *lifecycle) idleLocked(after time.Duration) func() bool {
	return func() bool { return l.link != nil && l.busy == 0 && time.Since(l.idleSince()) >= after }
}

// idleSince is when the sandbox began to be idle, if it is; l.mu is held. One that
// could not sleep, or was taken over, begins anew, though nobody used it.
func (l *lifecycle) idleSince() time.Time {
	if l.lastUsed.Before(l.runsSince) {
		return l.runsSince
	}
	return l.lastUsed
}
