package local

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sandgate/sandboxclient"
)

// newSleepLab gives a driver without a runtime, for what sleeps.
func newSleepLab(t *testing.T) *Driver {
	t.Helper()
	needRoot(t)
	l := layout{newDir(t)}
	if err := errors.Join(os.MkdirAll(l.run(), 0o700), os.MkdirAll(l.sandboxes(), 0o700)); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	return &Driver{
		layout: l, engine: newEngine(kindRunsc, "/nowhere", l.runtimeRoot(kindRunsc)), log: log,
		disks: newDisks(l, log), checkpoints: newCheckpoints(l, 0), sandboxes: map[sandboxclient.ID]*sandbox{},
	}
}

// stuck makes a cgroup that cannot be removed until the function is called.
func stuck(t *testing.T, id sandboxclient.ID) (free func()) {
	t.Helper()
	own := filepath.Join(cgroupRoot, cgroupsPath(instance(id)))
	if _, err := os.Stat(filepath.Join(cgroupRoot, "memory")); err == nil {
		own = filepath.Join(cgroupRoot, "memory", cgroupsPath(instance(id)))
	}
	below := filepath.Join(own, "stuck")
	if err := os.MkdirAll(below, 0o755); err != nil {
		t.Fatal(err)
	}
	free = func() { _ = os.Remove(below) }
	t.Cleanup(func() { free(); _ = os.Remove(own) })
	return free
}

// TestFinishHibernations_stuck: what cannot be ended beside a memory keeps neither
// the gateway from its start nor costs the memory. Its wake ends it.
func TestFinishHibernations_stuck(t *testing.T) {
	for name, place := range map[string]func(layout, sandboxclient.ID) string{
		"killed while it fell asleep": layout.checkpoint,
		"killed while it woke":        layout.waking,
	} {
		t.Run(name, func(t *testing.T) {
			d := newSleepLab(t)
			id := d.checkpoints.sleeps(t, t.Name()+time.Now().String(), manifest{Note: []byte("a note")})
			err := os.Mkdir(d.layout.bundle(id), 0o700)
			if dir := place(d.layout, id); dir != d.layout.checkpoint(id) {
				err = errors.Join(err, os.Rename(d.layout.checkpoint(id), dir))
			}
			if err != nil {
				t.Fatal(err)
			}
			clear(d.checkpoints.all)
			free := stuck(t, id)
			if err := d.finishHibernations(t.Context(), 50*time.Millisecond); err != nil {
				t.Fatal(err)
			}
			if slept, err := d.Asleep(id); err != nil || string(slept.Note) != "a note" {
				t.Errorf("asleep: %+v, %v", slept, err)
			}
			free()
			if err := errors.Join(d.finishWake(t.Context(), id), d.reclaim(t.Context(), id)); err != nil {
				t.Error(err)
			}
			if _, err := readManifest(d.layout.checkpoint(id)); err != nil {
				t.Errorf("there is nothing to wake from: %v", err)
			}
		})
	}
}
