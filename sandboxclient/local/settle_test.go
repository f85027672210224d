package local

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sandgate/sandboxclient"
)

// sleeps makes a checkpoint of nothing, with a plain workspace.
func (c *checkpoints) sleeps(t *testing.T, name string, m manifest) sandboxclient.ID {
	t.Helper()
	id := sandboxclient.DeriveID([]byte(name), sandboxclient.Ref{})
	if err := os.MkdirAll(c.layout.workspace(id), 0o700); err != nil {
		t.Fatal(err)
	}
	c.sleepsAs(t, id, m)
	return id
}

func (c *checkpoints) sleepsAs(t *testing.T, id sandboxclient.ID, m manifest) {
	t.Helper()
	dir := c.layout.checkpoint(id)
	if err := errors.Join(os.MkdirAll(dir, 0o700), writeJSON(filepath.Join(dir, manifestName), m)); err != nil {
		t.Fatal(err)
	}
	c.count(id, sandboxclient.Checkpoint{At: m.Made}, nil)
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
	clear(c.all)
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

// TestSettle_powerCut: files that a program wrote just before its sleep are there
// when it goes on from a memory that is, though they lie in no image.
func TestSettle_powerCut(t *testing.T) {
	disk := newDiskLab(t)
	disk.open(diskSize)
	c := newCheckpoints(layout{filepath.Join(disk.dir, "state")}, 0)
	made := time.Now()
	id := c.sleeps(t, "plain", manifest{Made: made})
	file := filepath.Join(c.layout.workspace(id), "file")
	if err := os.WriteFile(file, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.settle(id, made)
	if !c.trusted(id) {
		t.Fatal("it is not trusted: nothing is tested")
	}
	if content, err := os.ReadFile(disk.powerCut(file)); err != nil || string(content) != "kept" {
		t.Errorf("after a power cut the file holds %q, %v", content, err)
	}
}

// TestUse_powerCut: whatever is left of a checkpoint that was used, no other boot
// goes on from it.
func TestUse_powerCut(t *testing.T) {
	disk := newDiskLab(t)
	disk.open(diskSize)
	c := newCheckpoints(layout{filepath.Join(disk.dir, "state")}, 0)
	made := time.Now()
	id := c.sleeps(t, "woken", manifest{Made: made, Boot: "that before the last"})
	c.settle(id, made)
	before, dir := c.trusted(id), c.layout.waking(id)
	if err := c.use(id, dir); err != nil || !before {
		t.Fatalf("trusted %t, use: %v", before, err)
	}
	if m, err := readManifest(dir); err != nil || m.Boot != bootID() {
		t.Errorf("this boot does not trust it: %+v, %v", m, err)
	}
	left, err := filepath.Glob(filepath.Join(disk.powerCut(c.layout.sandbox(id)), "checkpoint*", syncedName))
	if err != nil || len(left) > 0 {
		t.Errorf("after a power cut it is trusted: %v, %v", left, err)
	}
}

// TestSettle_vouchesForNothingInUse: what was unmounted out of sight only may still
// be on its way.
func TestSettle_vouchesForNothingInUse(t *testing.T) {
	l := newDiskLab(t)
	held := l.closeInUse()
	c := newCheckpoints(l.disks.layout, 0)
	made := time.Now()
	c.sleepsAs(t, l.id, manifest{Made: made})
	c.settle(l.id, made)
	if c.trusted(l.id) {
		t.Error("it is trusted while somebody uses its workspace")
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { c.settle(l.id, made); return c.trusted(l.id) })
}

// TestSettle_waitsForWhatIsInUseForAMoment: a sandbox that starts holds every other's
// workspace until it has let go of the host's mounts.
func TestSettle_waitsForWhatIsInUseForAMoment(t *testing.T) {
	l := newDiskLab(t)
	held := l.closeInUse()
	letGo := time.AfterFunc(settlePause/2, func() { held.Close() })
	defer letGo.Stop()
	c := newCheckpoints(l.disks.layout, 0)
	made := time.Now()
	c.sleepsAs(t, l.id, manifest{Made: made})
	c.settle(l.id, made)
	if !c.trusted(l.id) {
		t.Error("it is not trusted, and nobody asks again")
	}
}

// TestSettle_vouchesForNoOther: a sandbox woke and slept again while its first
// checkpoint was on its way to the disk.
func TestSettle_vouchesForNoOther(t *testing.T) {
	c := newCheckpoints(layout{newDir(t)}, 0)
	id := sandboxclient.DeriveID([]byte("key"), sandboxclient.Ref{})
	dir := c.layout.checkpoint(id)
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.MkdirAll(c.layout.workspace(id), 0o700)); err != nil {
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
	made := time.Now()
	id := c.sleeps(t, "key", manifest{Made: made})
	c.turn.Lock() // a sync that takes its time
	c.settling.Go(func() { c.settle(id, made) })
	c.close(time.Millisecond)
	c.turn.Unlock()
	c.settling.Wait()
	if _, err := os.Lstat(filepath.Join(c.layout.checkpoint(id), syncedName)); err == nil {
		t.Error("a driver that is closed vouches for what the next one may have used")
	}
}
