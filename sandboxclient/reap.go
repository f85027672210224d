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

// Adopt takes over what an earlier gateway left on the engine: a sandbox that
// is on record and shakes hands goes on, with its contexts and executions, if it
// is one that lasts or is Wanted; every other is ended. As many go on as there
// are, even where fewer may run by now. Call it once, before the first operation.
func (c *Client) Adopt(ctx context.Context) error {
	records, err := c.opts.Records.ListSandboxes(ctx, Which{})
	if err != nil {
		return fmt.Errorf("list records: %w", err)
	}
	ids, err := c.opts.Driver.List(ctx)
	if err != nil {
		return fmt.Errorf("list sandboxes: %w", err)
	}
	refs := make(map[ID]Ref, len(records))
	for _, r := range records {
		refs[r.ID] = r.Ref
		c.census.found(r.ID, r.Ref)
		c.recall(r.ID, r.Ref)
	}
	patience := time.Now().Add(adoptTime)
	var group errgroup.Group // one that cannot be cleared must not hold up the others
	group.SetLimit(atOnce)
	for _, id := range ids {
		group.Go(func() error {
			ref, recorded := refs[id]
			if recorded && c.outlives(ref) && c.takeOver(ctx, id, ref, patience) {
				return nil
			}
			return c.clearLeft(ctx, id, ref)
		})
	}
	for id, ref := range refs {
		if !c.outlives(ref) {
			group.Go(func() error { return c.clearLeft(ctx, id, ref) })
		}
	}
	return group.Wait()
}

// adoptTime is how long those that an earlier gateway left are waited for. Each
// has the time of maxSilence answers, however many there are.
const adoptTime = 20 * time.Second

// clearLeft is clear unless ctx is over: who was not waited for may live, and is
// for a later gateway to ask.
func (c *Client) clearLeft(ctx context.Context, id ID, ref Ref) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c.clear(ctx, id, ref)
	return nil
}

// outlives says whether a sandbox may go on under a later gateway.
func (c *Client) outlives(ref Ref) bool { return !ref.Ephemeral || c.opts.Wanted(ref) }

// Running says whether the sandbox runs at this moment, without starting it.
func (s *Sandbox) Running() bool {
	le := s.client.leaseRunning(s.id)
	if le == nil {
		return false
	}
	le.release()
	return true
}

// clear ends what was left of a sandbox. What fails is tried again by the
// reaper; it is told in the log.
func (c *Client) clear(ctx context.Context, id ID, ref Ref) {
	l := c.lifecycle(id, ref)
	f := l.end("left by an earlier gateway", ref.workspace(), func() bool { return l.link == nil })
	if f != nil {
		f.landed(ctx)
	}
}

// takeOver enters a sandbox that shakes hands among those that run. On a busy
// machine it may take its time to.
func (c *Client) takeOver(ctx context.Context, id ID, ref Ref, patience time.Time) bool {
	link := newLink(c.opts.Driver, id)
	executions, err := link.reach(ctx, max(time.Until(patience), maxSilence*aliveTimeout))
	if err == nil {
		err = c.openEgress(ctx, id, ref, link)
	}
	if err != nil {
		link.close()
		return false
	}
	c.census.runsAlready(ref.Owner)
	for _, x := range executions {
		c.executions.add(x.ID, id, ref)
	}
	c.lifecycle(id, ref).opened(link)
	c.opts.Logger.Info("sandbox taken over", "sandbox", id, "app", ref.App)
	return true
}

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
