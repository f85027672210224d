package local

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"sandgate/sandboxclient"
)

const (
	// squeezed is how much smaller a checkpoint gets at least when it is compressed.
	squeezed = 2
	// tight is the part of the limit from which on checkpoints are compressed.
	tightNum, tightDen = 3, 4
)

// checkpoints counts what is asleep, so that it stays within its bounds.
type checkpoints struct {
	layout layout
	limit  int64 // bytes of all; 0: what the disk has

	mu       sync.Mutex
	all      map[sandboxclient.ID]sandboxclient.Checkpoint
	promised int64 // bytes for those that are being written

	settling sync.WaitGroup // those on their way to the disk
	turn     sync.Mutex     // of the one that is
}

func newCheckpoints(l layout, limit int64) *checkpoints {
	return &checkpoints{layout: l, limit: limit, all: map[sandboxclient.ID]sandboxclient.Checkpoint{}}
}

// admit keeps room on the disk for the checkpoint of so much memory, if there is
// any, until it is written and release is called.
func (c *checkpoints) admit(memory int64) (release func(), err error) {
	room, err := roomAt(c.layout.sandboxes())
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if room-c.promised < memory/squeezed {
		return nil, fmt.Errorf("the disk has room for %d bytes, of which %d are promised: too little for a memory of %d", room, c.promised, memory)
	}
	c.promised += memory / squeezed
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.promised -= memory / squeezed
	}, nil
}

// compress says whether room is short.
func (c *checkpoints) compress() bool {
	room, err := roomAt(c.layout.sandboxes())
	if err != nil || room < scarce {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.limit > 0 && c.total() > c.limit/tightDen*tightNum
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
			c.all[id] = sandboxclient.Checkpoint{At: m.Made, Bytes: m.Bytes}
		}
	}
	return nil
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
	c.mu.Lock()
	defer c.mu.Unlock()
	m, err := readManifest(c.layout.checkpoint(id))
	if err != nil {
		return err
	}
	if m.Lost != "" {
		return lost(m.Lost)
	}
	if err := os.Rename(c.layout.checkpoint(id), to); err != nil {
		return err
	}
	delete(c.all, id)
	return nil
}

func (c *checkpoints) remove(id sandboxclient.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.all, id)
}

// settle brings a checkpoint and its workspace to the disk, and notes that they
// are there. Until then another boot must not trust it. One that is used or
// removed meanwhile needs no note, and the next in its place has to earn its own.
func (c *checkpoints) settle(id sandboxclient.ID, made time.Time) {
	c.turn.Lock()
	defer c.turn.Unlock()
	if !c.has(id, made) {
		return
	}
	dir := c.layout.checkpoint(id)
	names, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	paths := []string{c.layout.image(id)}
	for _, e := range names {
		paths = append(paths, filepath.Join(dir, e.Name()))
	}
	for _, path := range paths {
		if syncFile(path) != nil {
			return
		}
	}
	if c.trust(id, made) {
		_ = syncFile(dir)
	}
}

func (c *checkpoints) has(id sandboxclient.ID, made time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts(id, made)
}

// counts says whether the checkpoint of a time is still there; c.mu is held.
func (c *checkpoints) counts(id sandboxclient.ID, made time.Time) bool {
	one, ok := c.all[id]
	return ok && one.At.Equal(made)
}

// trust notes that a checkpoint is on the disk, unless it is not the one of this
// time any more.
func (c *checkpoints) trust(id sandboxclient.ID, made time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts(id, made) && os.WriteFile(filepath.Join(c.layout.checkpoint(id), syncedName), nil, 0o600) == nil
}

// settleTime bounds what a gateway that stops may take to bring checkpoints to the
// disk. One that is not there yet is lost only if the machine stops as well.
const settleTime = 10 * time.Second

// close waits until all is settled, or for so long. What is not settled then will
// not be trusted by another boot.
func (c *checkpoints) close(bound time.Duration) {
	settled := make(chan struct{})
	go func() { // ends with what is being synced now: the others find themselves forgotten
		c.settling.Wait()
		close(settled)
	}()
	select {
	case <-settled:
	case <-time.After(bound):
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.all)
}

// syncFile brings a file to the disk; one that is not there is no error.
func syncFile(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
