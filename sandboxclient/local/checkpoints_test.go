package local

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sandgate/sandboxclient"
)

// TestSettle_vouchesForNoOther: a sandbox woke and slept again while its first
// checkpoint was on its way to the disk.
func TestSettle_vouchesForNoOther(t *testing.T) {
	c := newCheckpoints(layout{newDir(t)}, 0)
	id := sandboxclient.DeriveID([]byte("key"), sandboxclient.Ref{})
	dir := c.layout.checkpoint(id)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	first := time.Now()
	second := first.Add(time.Minute)
	for _, step := range []struct {
		name  string
		count time.Time // of the checkpoint that is there; zero: one that is being written
		made  time.Time // of the one that settles
		want  bool
	}{
		{"the next is being written", time.Time{}, first, false},
		{"the next is there", second, first, false},
		{"its own", second, second, true},
	} {
		c.remove(id)
		if !step.count.IsZero() {
			c.count(id, sandboxclient.Checkpoint{At: step.count}, nil)
		}
		c.settle(id, step.made)
		if _, err := os.Lstat(filepath.Join(dir, syncedName)); (err == nil) != step.want {
			t.Errorf("%s: trusted %t", step.name, err == nil)
		}
	}
}

// TestClose_waitsForNoLongQueue: a gateway that stops may have put hundreds to sleep
// on a slow disk.
func TestClose_waitsForNoLongQueue(t *testing.T) {
	c := newCheckpoints(layout{newDir(t)}, 0)
	id := sandboxclient.DeriveID([]byte("key"), sandboxclient.Ref{})
	if err := os.MkdirAll(c.layout.checkpoint(id), 0o700); err != nil {
		t.Fatal(err)
	}
	made := time.Now()
	c.count(id, sandboxclient.Checkpoint{At: made}, nil)
	c.turn.Lock() // a sync that takes its time
	c.settling.Go(func() { c.settle(id, made) })
	c.close(time.Millisecond)
	c.turn.Unlock()
	c.settling.Wait()
	if _, err := os.Lstat(filepath.Join(c.layout.checkpoint(id), syncedName)); err == nil {
		t.Error("a driver that is closed vouches for what the next one may have used")
	}
}

// TestCount_givesUpWhatNobodyUses: who wakes what is being given up learns why, and
// keeps what it sleeps with later.
func TestCount_givesUpWhatNobodyUses(t *testing.T) {
	c := newCheckpoints(layout{newDir(t)}, 1)
	older := sandboxclient.DeriveID([]byte("older"), sandboxclient.Ref{})
	newer := sandboxclient.DeriveID([]byte("newer"), sandboxclient.Ref{})
	manifestPath := filepath.Join(c.layout.checkpoint(older), manifestName)
	if err := errors.Join(os.MkdirAll(c.layout.checkpoint(older), 0o700), writeJSON(manifestPath, manifest{})); err != nil {
		t.Fatal(err)
	}
	woke := make(chan error, 1)
	giveUp := func(id sandboxclient.ID, why string) {
		go func() { woke <- c.use(id, c.layout.waking(id)) }()
		time.Sleep(50 * time.Millisecond) // it waits for the lock by then, or this proves less
		if err := writeJSON(manifestPath, manifest{Lost: why}); err != nil || id != older {
			t.Errorf("%s is given up: %v", id, err)
		}
	}
	now := time.Now()
	c.count(older, sandboxclient.Checkpoint{At: now, Bytes: 1}, giveUp)
	c.count(newer, sandboxclient.Checkpoint{At: now.Add(time.Second), Bytes: 1}, giveUp)
	if _, ok := errors.AsType[*sandboxclient.LostError](<-woke); !ok {
		t.Error("it woke while it was given up")
	}
}
