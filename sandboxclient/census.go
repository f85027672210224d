package sandboxclient

import (
	"sync"
	"time"
)

// A census bounds how many sandboxes run, and how many exist, of all owners and
// of each: one exists from its first start until its workspace is removed.
type census struct {
	maxRunning  int
	maxExisting int
	share       func(owner string) Share
	disk        func(app string) int64

	mu       sync.Mutex
	existing map[ID]Ref
	running  int            // of all owners
	runs     map[string]int // by owner; no entry for those without any
}

func newCensus(opts Options) *census {
	return &census{
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
	share := c.share(ref.Owner) // before c.mu, which holds up everybody
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.existing[id]; ok {
		return false, nil
	}
	if len(c.existing) >= c.maxExisting {
		return false, full(time.Minute, "This gateway keeps %d sandboxes already, the most it may: remove one that is not needed any more, for example with DELETE /notebook?notebook=NAME&files=true", c.maxExisting)
	}
	if err := c.withinShare(ref, share); err != nil {
		return false, err
	}
	c.existing[id] = ref
	return true, nil
}

// enter counts one more as running, unless as many run as may.
func (c *census) enter(owner string) error {
	share := c.share(owner)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.mayRun(owner, share); err != nil {
		return err
	}
	if c.running >= c.maxRunning {
		return full(5*time.Second, "%d sandboxes run already, the most that may; try again soon", c.maxRunning)
	}
	c.count(owner)
	return nil
}

// runsAlready counts one as running that is not to end for there being too many:
// fewer may now than under an earlier gateway.
func (c *census) runsAlready(owner string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count(owner)
}

// count counts one more as running; c.mu is held.
func (c *census) count(owner string) {
	c.running++
	c.runs[owner]++
}

func full(retryAfter time.Duration, format string, args ...any) *Error {
	e := Errorf(CodeExhausted, format, args...)
	e.RetryAfter = retryAfter
	return e
}

// leave tells that one does not run any more.
func (c *census) leave(owner string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running--
	if c.runs[owner]--; c.runs[owner] <= 0 {
		delete(c.runs, owner)
	}
}
