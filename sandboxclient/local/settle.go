package local

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"time"

	"sandgate/sandboxclient"
)

// settleLeft has brought to the disk what an earlier gateway of this boot had no
// time for, or failed with. What another boot left so may have lost parts.
func (c *checkpoints) settleLeft() {
	c.mu.Lock()
	left := maps.Clone(c.all)
	c.mu.Unlock()
	boot := bootID()
	for id, one := range left {
		dir := c.layout.checkpoint(id)
		m, err := readManifest(dir)
		if err != nil || m.Boot != boot {
			continue
		}
		if settled, err := exists(filepath.Join(dir, syncedName)); err == nil && !settled {
			c.settling.Go(func() { c.settle(id, one.At) })
		}
	}
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
