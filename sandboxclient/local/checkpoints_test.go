package local

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sandgate/sandboxclient"
)

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
