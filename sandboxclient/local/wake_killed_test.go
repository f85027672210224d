package local_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sandgate/sandboxclient"
	"sandgate/sandboxclient/local"
)

// TestNew_finishesWakes: what sleeps is not lost with a gateway that is killed
// while it wakes it, unless it may have run; then its user learns why.
func TestNew_finishesWakes(t *testing.T) {
	b := newBench(t, "runsc")
	d := b.asleep()
	d = b.killWaking(d)
	if _, err := d.Asleep(b.id); err != nil {
		t.Errorf("asleep, where nothing has run: %v", err)
	}
	if err := b.wake(d); err != nil {
		t.Fatalf("wake, where nothing has run: %v", err)
	}
	if err := reach(d, b.id); err != nil {
		t.Error(err)
	}
	if err := d.Hibernate(t.Context(), b.id, nil); err != nil {
		t.Fatal(err)
	}
	d = b.killWaking(d, "pid")
	if ids, err := d.List(t.Context()); err != nil || len(ids) > 0 {
		t.Errorf("list: %v, %v, want none: who clears one that is dead forgets why", ids, err)
	}
	var lost *sandboxclient.LostError
	if err := b.wake(d); !errors.As(err, &lost) || !strings.Contains(lost.Why, "killed") {
		t.Errorf("wake, where something may have run: %v", err)
	}
	if left := glob(filepath.Join(b.cfg.StateDir, "sandboxes", string(b.id), "checkpoint*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestNew_finishesSleeps: what the runtime has written whole is not lost with a
// gateway that is killed meanwhile, nor what it had not begun to write.
func TestNew_finishesSleeps(t *testing.T) {
	b := newBench(t, "runsc")
	dir := filepath.Join(b.cfg.StateDir, "sandboxes", string(b.id), "checkpoint")
	d := b.asleep()
	d = b.killFallingAsleep(d, "77\nwhole\n")
	if slept, err := d.Asleep(b.id); err != nil || slept.Bytes < 1<<20 {
		t.Errorf("asleep, where all was written: %+v, %v", slept, err)
	}
	if err := b.wake(d); err != nil {
		t.Fatal(err)
	}
	err := errors.Join(d.Close(), os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "manifest.pending"), []byte("{}"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	d = b.open()
	if err := reach(d, b.id); err != nil {
		t.Errorf("reach, where nothing was written: %v", err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("left behind: %v", err)
	}
	if err := d.Hibernate(t.Context(), b.id, nil); err != nil {
		t.Fatal(err)
	}
	d = b.killFallingAsleep(d, "77\n")
	var lost *sandboxclient.LostError
	if err := b.wake(d); !errors.As(err, &lost) || !strings.Contains(lost.Why, "fell asleep") {
		t.Errorf("wake, where something was written: %v", err)
	}
}

// killFallingAsleep gives the driver of the gateway after one that was killed
// when the runtime had left this mark, and had ended the sandbox.
func (b *bench) killFallingAsleep(d *local.Driver, mark string) *local.Driver {
	b.Helper()
	dir := filepath.Join(b.cfg.StateDir, "sandboxes", string(b.id), "checkpoint")
	_ = os.Remove(filepath.Join(dir, "synced")) // which a busy disk may not have come to
	err := errors.Join(d.Close(),
		os.Rename(filepath.Join(dir, "manifest.json"), filepath.Join(dir, "manifest.pending")),
		os.WriteFile(filepath.Join(dir, "mark"), []byte(mark), 0o600))
	if err != nil {
		b.Fatal(err)
	}
	return b.open()
}

// asleep gives a driver and a sandbox that sleeps.
func (b *bench) asleep() *local.Driver {
	b.Helper()
	d := b.open()
	if err := b.create(d); err != nil {
		b.Fatal(err)
	}
	if err := d.Hibernate(b.Context(), b.id, nil); err != nil {
		b.Fatal(err)
	}
	return d
}

func (b *bench) wake(d *local.Driver) error {
	return d.Wake(b.Context(), sandboxclient.Spec{ID: b.id, Limits: sandboxclient.DefaultLimits()})
}

// killWaking gives the driver of the gateway after one that was killed while a
// sandbox woke, whose bundle holds these files.
func (b *bench) killWaking(d *local.Driver, files ...string) *local.Driver {
	b.Helper()
	dir := filepath.Join(b.cfg.StateDir, "sandboxes", string(b.id))
	err := errors.Join(d.Close(), os.Mkdir(filepath.Join(dir, "bundle"), 0o700),
		os.Rename(filepath.Join(dir, "checkpoint"), filepath.Join(dir, "checkpoint.waking")))
	for _, name := range files {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, "bundle", name), nil, 0o600))
	}
	if err != nil {
		b.Fatal(err)
	}
	return b.open()
}

// TestNew_settlesWhatWasNot: what fell asleep just before a gateway was killed is
// safe from a power cut once there is another.
func TestNew_settlesWhatWasNot(t *testing.T) {
	b := newBench(t, "runsc")
	d := b.asleep()
	synced := filepath.Join(b.cfg.StateDir, "sandboxes", string(b.id), "checkpoint", "synced")
	if err := errors.Join(d.Close(), os.Remove(synced)); err != nil {
		t.Fatal(err)
	}
	b.open()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Lstat(synced); err == nil {
			return
		} else if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}
