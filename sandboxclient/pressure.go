package sandboxclient

import (
	"context"
	"errors"
	"slices"
	"sync"
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
	// freshBytes is the memory that a fresh sandbox is expected to take at its start.
	freshBytes = 64 << 20
	// pressurePoll is how often a start that waits looks whether there is room.
	pressurePoll = 100 * time.Millisecond
	// refusedTime is how long a sandbox that could not sleep is not asked to again.
	refusedTime = 10 * time.Second
)

// A gate lets sandboxes in as long as there is memory for them.
type gate struct {
	mu       sync.Mutex
	used     int64     // by those that were let in
	measured time.Time // when that was last looked at
	trust    time.Duration
}

// enter waits a bounded time until one more sandbox may run. The sandbox that
// was idle for longest sleeps to make room for it, but not for one of the pool;
// where nothing can sleep, it ends if it was idle for Options.SleepAfter.
func (c *Client) enter(ctx context.Context, l *lifecycle) error {
	ctx, cancel := context.WithTimeout(ctx, c.opts.QueueTime)
	defer cancel()
	expected := c.expected(l.id)
	for {
		err := c.tryEnter(l, expected)
		if err == nil || l.ref.App == poolApp {
			return err
		}
		if ctx.Err() == nil && c.couldFit(expected) && c.makeRoom(ctx, c.crowded(l.ref.Owner)) {
			continue
		}
		if c.census.full(l.ref.Owner) { // its own have to end first
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pressurePoll):
		}
	}
}

// tryEnter is enter without waiting.
func (c *Client) tryEnter(l *lifecycle, expected int64) error {
	c.gate.mu.Lock()
	defer c.gate.mu.Unlock()
	if err := c.census.enter(l.ref.Owner); err != nil {
		return err
	}
	if !c.memoryFits(expected) {
		c.census.leave(l.ref.Owner)
		return full(5*time.Second, "The sandboxes that run use all the memory they may, and none is idle; try again soon")
	}
	l.floor.Store(expected)
	c.gate.used += expected
	return nil
}

// couldFit says whether one fits beside those that are used, if all others sleep: if
// not, they would sleep in vain.
func (c *Client) couldFit(expected int64) bool {
	if c.opts.MaxMemory <= 0 || c.gauge == nil || expected <= freshBytes {
		return true
	}
	var used int64
	for _, l := range c.all() {
		if floor := l.floor.Load(); floor > 0 && l.busyNow() {
			used += max(c.gauge.Usage(l.id).MemoryBytes, floor)
		}
	}
	return used == 0 || used+expected < c.opts.MaxMemory
}

// expected is the memory that a sandbox is going to take at its start: one that
// sleeps, what it fell asleep with. Where that is compressed it takes more, which
// shows once it runs.
func (c *Client) expected(id ID) int64 {
	if c.opts.MaxMemory <= 0 || c.hibernator == nil {
		return freshBytes
	}
	slept, err := c.hibernator.Asleep(id)
	if err != nil { // if it sleeps after all, its start will tell
		return freshBytes
	}
	return max(freshBytes, slept.Bytes)
}

// hasRoom says whether one more sandbox might run, without any going for it.
func (c *Client) hasRoom() bool {
	c.gate.mu.Lock()
	defer c.gate.mu.Unlock()
	if c.census.enter("") != nil {
		return false
	}
	c.census.leave("")
	return c.memoryFits(freshBytes)
}

// memoryFits says whether one more sandbox keeps all within their memory; one that
// is alone always does. To look at a thousand takes a while: it is done for all who
// wait, and a tenth of the time. c.gate.mu is held.
func (c *Client) memoryFits(expected int64) bool {
	if c.opts.MaxMemory <= 0 || c.gauge == nil {
		return true
	}
	if began := time.Now(); began.Sub(c.gate.measured) >= c.gate.trust {
		c.gate.used = c.memoryUsed()
		c.gate.measured = time.Now()
		c.gate.trust = max(pressurePoll, 9*time.Since(began))
	}
	return c.gate.used == 0 || c.gate.used+expected < c.opts.MaxMemory
}

// memoryUsed is what those take that were let in. A start that waits takes none.
func (c *Client) memoryUsed() (sum int64) {
	for _, l := range c.all() {
		if floor := l.floor.Load(); floor > 0 {
			sum += max(c.gauge.Usage(l.id).MemoryBytes, floor)
		}
	}
	return sum
}

// roomWasMade has the memory be looked at again.
func (c *Client) roomWasMade() {
	c.gate.mu.Lock()
	defer c.gate.mu.Unlock()
	c.gate.measured = time.Time{}
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
// is named. It says whether one is gone.
func (c *Client) makeRoom(ctx context.Context, owner string) bool {
	for {
		f := c.restLongestIdle(ctx, owner)
		if f == nil {
			return false
		}
		if !f.landed(ctx) {
			return false
		}
		if !errors.Is(f.err, ErrAwake) { // asleep or lost, its place is free
			c.roomWasMade()
			return true
		}
	}
}

// restLongestIdle has the sandbox begin to sleep that was idle for longest; nil
// when there is none. One who waits looks at a time: many would all ask the same.
func (c *Client) restLongestIdle(ctx context.Context, owner string) *flight {
	select {
	case <-ctx.Done():
		return nil
	case c.looking <- struct{}{}:
	}
	defer func() { <-c.looking }()
	for _, l := range c.idleFirst(owner) {
		if ctx.Err() != nil {
			return nil
		}
		if c.stillWorks(ctx, l) {
			continue
		}
		if f := l.rest("others need its place", l.sparedLocked); f != nil {
			return f
		}
	}
	return nil
}

// sparedLocked asks, with l.mu held, whether the sandbox may make room. One that
// could not sleep a moment ago, for want of disk say, will not do so now.
func (l *lifecycle) sparedLocked() bool {
	return time.Since(l.refusedSleep) >= refusedTime && l.idleLocked(l.client.spareAfter())()
}

// spareAfter is how long a sandbox was idle that makes room. Where it sleeps, its
// user does not miss it at once; where it ends, its variables do.
func (c *Client) spareAfter() time.Duration {
	if c.hibernator != nil {
		return 0
	}
	return c.opts.SleepAfter
}

// idleFirst gives the sandboxes that may make room and last, longest first; before
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
		if l.flight == nil && l.sparedLocked() {
			since := l.idleSince()
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
