package sandboxclient

import (
	"context"
	"slices"
	"time"
)

// A Gauge is the power of a driver to tell what a sandbox takes.
type Gauge interface {
	// Usage tells what a sandbox takes of this host, running or not. What cannot
	// be told is zero.
	Usage(id ID) Usage
}

// Usage is what a sandbox takes.
type Usage struct {
	MemoryBytes int64 // 0 when it does not run
	DiskBytes   int64 // of its workspace and, while it sleeps, its memory
}

const (
	// freshBytes is the memory that a sandbox is expected to take at its start.
	freshBytes = 64 << 20
	// pressurePoll is how often a start that waits looks whether there is room.
	pressurePoll = 100 * time.Millisecond
)

// enter waits a bounded time until one more sandbox may run. The sandbox that
// was idle for longest sleeps to make room for it.
func (c *Client) enter(ctx context.Context, owner string) error {
	ctx, cancel := context.WithTimeout(ctx, c.opts.QueueTime)
	defer cancel()
	for {
		fits := c.memoryFits()
		if fits && c.census.tryEnter(owner) {
			return nil
		}
		if ctx.Err() == nil && c.makeRoom(ctx, c.crowded(owner)) {
			continue
		}
		if c.census.full(owner) {
			return c.census.enter(ctx, owner)
		}
		select {
		case <-ctx.Done():
			return c.crowd(fits)
		case <-time.After(pressurePoll):
		}
	}
}

// crowd says why a start was not let in.
func (c *Client) crowd(memoryFits bool) error {
	if memoryFits {
		return c.census.refusal()
	}
	return full(5*time.Second, "The sandboxes that run use all the memory they may, and none is idle; try again soon")
}

// memoryFits says whether one more sandbox keeps all within their memory.
func (c *Client) memoryFits() bool {
	if c.opts.MaxMemory <= 0 || c.gauge == nil {
		return true
	}
	sum := int64(freshBytes)
	for _, l := range c.all() {
		sum += max(c.gauge.Usage(l.id).MemoryBytes, freshBytes/2)
	}
	return sum <= c.opts.MaxMemory
}

// crowded names the owner whose own sandboxes are in the way, or "" when those
// of all are.
func (c *Client) crowded(owner string) string {
	if c.census.full(owner) {
		return owner
	}
	return ""
}

// makeRoom lets the sandbox sleep that was idle for longest, of one owner if one
// is named. It says whether one was found.
func (c *Client) makeRoom(ctx context.Context, owner string) bool {
	for _, l := range c.idleFirst(owner) {
		if c.stillWorks(ctx, l) {
			continue
		}
		f := l.rest("others need its place", l.idleLocked(0))
		if f == nil {
			continue
		}
		<-f.done // bounded: a flight has a deadline
		if f.err == nil {
			return true
		}
	}
	return false
}

// idleFirst gives the sandboxes that are idle and last, longest first; before
// them those of the pool, which nobody misses.
func (c *Client) idleFirst(owner string) []*lifecycle {
	type idle struct {
		life  *lifecycle
		since time.Time
	}
	var found []idle
	for _, l := range c.all() {
		if (l.ref.Ephemeral && l.ref.App != poolApp) || (owner != "" && l.ref.Owner != owner) {
			continue
		}
		l.mu.Lock()
		if l.flight == nil && l.idleLocked(0)() {
			since := l.lastUsed
			if l.ref.App == poolApp {
				since = time.Time{}
			}
			found = append(found, idle{l, since})
		}
		l.mu.Unlock()
	}
	slices.SortFunc(found, func(a, b idle) int { return a.since.Compare(b.since) })
	lives := make([]*lifecycle, len(found))
	for i := range found {
		lives[i] = found[i].life
	}
	return lives
}
