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
	if c.syncWorkspace(id) != nil || syncFiles(c.layout.checkpoint(id)) != nil || syncFile(c.layout.sandbox(id)) != nil {
		return
	}
	if c.trust(id, made) {
		_ = syncFile(c.layout.checkpoint(id))
	}
}

// settleTries and settlePause bound how long a workspace is waited for.
const (
	settleTries = 20
	settlePause = 100 * time.Millisecond
)

// errInUse is a workspace that cannot be vouched for.
var errInUse = errors.New("somebody still uses the workspace")

// syncWorkspace brings to the disk what a sandbox that sleeps has in its
// workspace. Where there is no image, that takes every file of the host's file
// system. An image that is still attached was unmounted out of sight, or not at
// all, and what was written there may be on its way.
func (c *checkpoints) syncWorkspace(id sandboxclient.ID) error {
	image, err := os.Open(c.layout.image(id))
	if errors.Is(err, os.ErrNotExist) {
		return syncDir(c.layout.workspace(id))
	}
	if err != nil {
		return err
	}
	defer image.Close()
	for tries := 0; attached(image); tries++ { // a sandbox that starts has a copy of every mount for a moment
		if tries == settleTries {
			return errInUse
		}
		time.Sleep(settlePause)
	}
	return image.Sync()
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

// distrust takes the trust of another boot from a checkpoint before it is used: a
// power cut may undo every other trace of that, and it would be used twice. For
// this boot it stays what it is.
func distrust(dir string, m manifest) error {
	synced := filepath.Join(dir, syncedName)
	if there, err := exists(synced); err != nil || !there {
		return err
	}
	if m.Boot = bootID(); m.Boot == "" {
		return errNoBoot
	}
	if err := writeJSON(filepath.Join(dir, manifestName), m); err != nil {
		return err
	}
	if err := os.Remove(synced); err != nil {
		return err
	}
	return syncFile(dir)
}

// closeTime bounds what a gateway that stops may take to bring checkpoints to the
// disk. One that is not there yet is lost only if the machine stops as well, before
// the next gateway has gone on with it.
const closeTime = 10 * time.Second

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

// syncFiles brings the files in a directory to the disk.
func syncFiles(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := syncFile(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// syncFile brings a file, or the names in a directory, to the disk.
func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
