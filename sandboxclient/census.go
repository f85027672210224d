package sandboxclient

import (
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// A census bounds how many sandboxes run, and how many exist, of all owners and
// of each: one exists from its first start until its workspace is removed.
type census struct {
	running     *semaphore.Weighted
	maxRunning  int
	maxExisting int
	share       func(owner string) Share
	disk        func(app string) int64

	mu       sync.Mutex
	existing map[ID]Ref
	runs     map[string]int // by owner; no entry for those without any
}

func newCensus(opts Options) *census {
	return &census{
		running:     semaphore.NewWeighted(int64(opts.MaxRunning)),
		maxRunning:  opts.MaxRunning,
		maxExisting: opts.MaxExisting,
		share:       opts.Share,
		disk:        func(app string) int64 { return opts.limitsOf(app).WorkspaceBytes },
		existing:    make(map[ID]Ref),
		runs:        make(map[string]int),
	}
}

// found counts a sandbox that exists already.
func (c *census) found(id ID, ref Ref) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.existing[id] = ref
}

// has says whether a sandbox exists.
func (c *census) has(id ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.existing[id]
	return ok
}

// gone forgets a sandbox whose workspace is removed.
func (c *census) gone(id ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.existing, id)
}

// admit counts a sandbox as existing, unless there are too many; it says
// whether the sandbox is new.
func (c *census) admit(id ID, ref Ref) (isNew bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.existing[id]; ok {
		return false, nil
	}
	if len(c.existing) >= c.maxExisting {
		return false, full(time.Minute, "This gateway keeps %d sandboxes already, the most it may: remove one that is not needed any more, DELETE /notebook?notebook=NAME&files=true say", c.maxExisting)
	}
	if err := c.withinShare(ref); err != nil {
		return false, err
	}
	c.existing[id] = ref
	return true, nil
}

// enter counts one more as running, unless as many run as may.
func (c *census) enter(owner string) error {
	if err := c.countRunning(owner); err != nil {
		return err
	}
	if !c.running.TryAcquire(1) {
		c.uncountRunning(owner)
		return c.refusal()
	}
	return nil
}

// refusal is for who comes when as many run as may.
func (c *census) refusal() error {
	return full(5*time.Second, "%d sandboxes run already, the most that may; try again soon", c.maxRunning)
}

func full(retryAfter time.Duration, format string, args ...any) *Error {
	e := Errorf(CodeExhausted, format, args...)
	e.RetryAfter = retryAfter
	return e
}

// leave tells that one does not run any more.
func (c *census) leave(owner string) {
	c.uncountRunning(owner)
	c.running.Release(1)
}
