package local

import (
	"os"
	"path/filepath"
	"slices"
	"sync"

	"sandgate/sandboxclient"
)

// checkpoints counts what is asleep, so that it stays within its bounds.
type checkpoints struct {
	layout layout
	limit  int64 // bytes of all; 0: what the disk has

	mu       sync.Mutex
	all      map[sandboxclient.ID]sandboxclient.Checkpoint
	promised int64         // bytes for those that are being written
	freed    chan struct{} // closed when one of them is, or is not; then it is another

	settling sync.WaitGroup // those on their way to the disk
	turn     sync.Mutex     // of the one that is
}

func newCheckpoints(l layout, limit int64) *checkpoints {
	return &checkpoints{
		layout: l, limit: limit,
		all: map[sandboxclient.ID]sandboxclient.Checkpoint{}, freed: make(chan struct{}),
	}
}

// total is the size of all; c.mu is held.
func (c *checkpoints) total() int64 {
	var sum int64
	for _, one := range c.all {
		sum += one.Bytes
	}
	return sum
}

// find counts what an earlier gateway left.
func (c *checkpoints) find() error {
	left, err := filepath.Glob(filepath.Join(c.layout.sandboxes(), "*", "checkpoint"))
	if err != nil {
		return err
	}
	for _, dir := range left {
		id := sandboxclient.ID(filepath.Base(filepath.Dir(dir)))
		m, err := readManifest(dir)
		if err == nil && m.Lost == "" {
			c.enter(id, m)
		}
	}
	return nil
}

// counted says whether a sandbox sleeps.
func (c *checkpoints) counted(id sandboxclient.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.all[id]
	return ok
}

// add counts a new one and has it brought to the disk. When all together are too
// large, the oldest are given up.
func (c *checkpoints) add(id sandboxclient.ID, giveUp func(sandboxclient.ID, string)) {
	m, err := readManifest(c.layout.checkpoint(id))
	if err != nil {
		return // woken already
	}
	c.count(id, sandboxclient.Checkpoint{At: m.Made, Bytes: m.Bytes}, giveUp)
	c.settling.Go(func() { c.settle(id, m.Made) })
}

// count enters a checkpoint, and gives up those that have to go for it, which
// nobody can use meanwhile.
func (c *checkpoints) count(id sandboxclient.ID, one sandboxclient.Checkpoint, giveUp func(sandboxclient.ID, string)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all[id] = one
	if c.limit <= 0 {
		return
	}
	for excess := c.total() - c.limit; excess > 0 && len(c.all) > 1; {
		oldest := c.oldest()
		excess -= c.all[oldest].Bytes
		delete(c.all, oldest)
		giveUp(oldest, "the disk space for sleeping sandboxes was used up by others, and it was the oldest")
	}
}

// oldest names the one that sleeps longest; c.mu is held.
func (c *checkpoints) oldest() sandboxclient.ID {
	ids := make([]sandboxclient.ID, 0, len(c.all))
	for id := range c.all {
		ids = append(ids, id)
	}
	return slices.MinFunc(ids, func(a, b sandboxclient.ID) int { return c.all[a].At.Compare(c.all[b].At) })
}

// use moves a checkpoint to where it is used up. One that was given up stays: its
// loss is the error.
func (c *checkpoints) use(id sandboxclient.ID, to string) error {
	m, err := c.take(id)
	if err != nil {
		return err
	}
	dir := c.layout.checkpoint(id)
	err = distrust(dir, m)
	if err == nil {
		err = os.Rename(dir, to)
	}
	if err != nil {
		c.enter(id, m)
	}
	return err
}

// take has nobody else give up a checkpoint or vouch for it.
func (c *checkpoints) take(id sandboxclient.ID) (manifest, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m, err := readManifest(c.layout.checkpoint(id))
	if err == nil && m.Lost != "" {
		err = lost(m.Lost)
	}
	if err == nil {
		delete(c.all, id)
	}
	return m, err
}

// enter counts a checkpoint.
func (c *checkpoints) enter(id sandboxclient.ID, m manifest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all[id] = sandboxclient.Checkpoint{At: m.Made, Bytes: m.Bytes}
}

func (c *checkpoints) remove(id sandboxclient.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.all, id)
}
