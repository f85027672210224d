package local

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sandgate/sandboxclient"
)

// sleeps makes a checkpoint of nothing.
func (c *checkpoints) sleeps(t *testing.T, name string, m manifest) sandboxclient.ID {
	t.Helper()
	id := sandboxclient.DeriveID([]byte(name), sandboxclient.Ref{})
	dir := c.layout.checkpoint(id)
	err := errors.Join(os.MkdirAll(dir, 0o700), os.MkdirAll(c.layout.workspace(id), 0o700))
	if err = errors.Join(err, writeJSON(filepath.Join(dir, manifestName), m)); err != nil {
		t.Fatal(err)
	}
	return id
}

func (c *checkpoints) trusted(id sandboxclient.ID) bool {
	_, err := os.Lstat(filepath.Join(c.layout.checkpoint(id), syncedName))
	return err == nil
}

// TestSettleLeft: a gateway that stops gives up settling after a while, and one
// that is killed at once. The machine may stop much later.
func TestSettleLeft(t *testing.T) {
	c := newCheckpoints(layout{newDir(t)}, 0)
	now := time.Now().UTC()
	want := map[sandboxclient.ID]bool{
		c.sleeps(t, "of this boot", manifest{Made: now, Boot: bootID()}):            true,
		c.sleeps(t, "of another", manifest{Made: now, Boot: "another"}):             false,
		c.sleeps(t, "lost", manifest{Made: now, Boot: bootID(), Lost: "by a test"}): false,
	}
	if err := c.find(); err != nil {
		t.Fatal(err)
	}
	c.settleLeft()
	c.settling.Wait()
	for id, trusted := range want {
		if c.trusted(id) != trusted {
			t.Errorf("%s: trusted %t, want %t", id, !trusted, trusted)
		}
	}
}
