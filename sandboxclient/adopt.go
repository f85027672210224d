package sandboxclient

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
)

// Adopt takes over what an earlier gateway left on the engine: a sandbox that
// is on record and shakes hands goes on, with its contexts and executions, if it
// is one that lasts or is Wanted; one that sleeps sleeps on; every other is ended.
// As many go on as there are, even where fewer may run by now. Call it once,
// before the first operation.
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
			switch {
			case c.asleep(id): // what the driver could not end beside its memory ends with its wake
			case recorded && c.outlives(ref) && c.takeOver(ctx, id, ref, patience):
			default:
				return c.clearLeft(ctx, id, ref)
			}
			return nil
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
