package sandboxclient

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// A retirement is how far the destruction of what nobody uses has come; it is the
// reconciliation's alone.
//
// How long ago something was used is for the host's clock to say, which may be
// wrong by weeks. So it takes time to destroy many, and when more than half of all
// have had their time, somebody is told, and none is destroyed for a while.
type retirement struct {
	next   time.Time // nothing is destroyed before
	doubts bool      // the clock may be wrong, and the log says so
}

// retireTime is how long, at most, one waits for the next, and how long a doubt
// holds up all.
const retireTime = time.Hour

// doubtful is how many expire at once where it is no ordinary forgetting: who has
// two notebooks has forgotten both before long.
const doubtful = 10

// retire destroys what nobody has used for too long, the longest unused first.
func (c *Client) retire(ctx context.Context, records []Record) {
	expired := slices.DeleteFunc(slices.Clone(records), func(r Record) bool { return !c.hasExpired(r) })
	slices.SortFunc(expired, func(a, b Record) int { return a.LastUsed.Compare(b.LastUsed) })
	for _, r := range expired[:c.mayRetire(len(expired), len(records))] {
		if ctx.Err() != nil {
			return
		}
		if !c.hasExpired(r) { // to destroy those before took a while
			continue
		}
		l := c.lifecycle(r.ID, r.Ref)
		why := fmt.Sprintf("unused for %s", c.opts.Retention)
		if f := l.end(why, RemoveWorkspace, func() bool { return l.link == nil }); f != nil {
			f.landed(ctx)
		}
	}
}

// hasExpired says whether nobody has used a sandbox for too long.
func (c *Client) hasExpired(r Record) bool {
	return c.opts.Retention > 0 && time.Since(r.LastUsed) >= c.opts.Retention && !c.knows(r.ID) && !c.sawUse(r.ID)
}

// mayRetire says how many of the expired may be destroyed now: all that there are
// would take a tenth of Options.Retention, and a few no more than an hour each.
func (c *Client) mayRetire(expired, all int) int {
	now, tenth := time.Now(), c.opts.Retention/10
	doubts := expired >= doubtful && 2*expired > all
	if doubts && !c.retirement.doubts {
		c.opts.Logger.Error("more than half of all sandboxes have expired: is the clock right? They are destroyed slowly, oldest first",
			"expired", expired, "sandboxes", all, "retention", c.opts.Retention)
		c.retirement.next = now.Add(min(retireTime, tenth))
	}
	c.retirement.doubts = doubts
	if expired == 0 || now.Before(c.retirement.next) {
		return 0
	}
	pause := max(1, min(retireTime, tenth/time.Duration(all)))
	c.retirement.next = now.Add(pause)
	return min(expired, max(1, int(c.reconcilePause()/pause)))
}

// see has the use of sandboxes noted: what the records said when they were listed
// may be old by the time that the last of many is destroyed.
func (c *Client) see(seen map[ID]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen = seen
}

// sawUse says whether a sandbox was used since the reconciliation began.
func (c *Client) sawUse(id ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen[id]
}
