package local

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
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

// falls makes a sandbox that fell asleep when its gateway was killed, and gives
// the mark that the runtime holds.
func (d *Driver) falls(t *testing.T) (sandboxclient.ID, *os.File) {
	t.Helper()
	id := d.checkpoints.sleeps(t, t.Name()+time.Now().String(), manifest{Note: []byte("a note")})
	clear(d.checkpoints.all)
	dir := d.layout.checkpoint(id)
	err := os.Rename(filepath.Join(dir, manifestName), filepath.Join(dir, pendingName))
	mark, e := newMark(dir)
	if err := errors.Join(err, e, os.MkdirAll(d.layout.bundle(id), 0o700)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = mark.Close() })
	return id, mark
}

// TestFinishHibernations_stillFalling: the runtime that a killed gateway left at
// work on a checkpoint is waited for, and only by who stays.
func TestFinishHibernations_stillFalling(t *testing.T) {
	d := newSleepLab(t)
	id, mark := d.falls(t)
	leaving, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if err := d.finishHibernations(leaving, time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("a gateway that is stopped: %v", err)
	}
	time.AfterFunc(50*time.Millisecond, func() {
		_, err := mark.WriteString("1\nwhole\n")
		if err := errors.Join(err, mark.Close()); err != nil {
			t.Error(err)
		}
	})
	if err := d.finishHibernations(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	if slept, err := d.Asleep(id); err != nil || string(slept.Note) != "a note" {
		t.Errorf("asleep: %+v, %v", slept, err)
	}
}

// TestFinishHibernations_neverWritten: a runtime that hangs keeps no gateway from
// its start, and goes on with nothing later.
func TestFinishHibernations_neverWritten(t *testing.T) {
	d := newSleepLab(t)
	id, mark := d.falls(t)
	hangs := exec.Command("/bin/sh", "-c", andMark, "sh", "sleep", "1000")
	hangs.ExtraFiles = []*os.File{mark}
	hangs.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := errors.Join(hangs.Start(), mark.Close()); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool {
		text, _ := os.ReadFile(filepath.Join(d.layout.checkpoint(id), markName))
		return len(strings.TrimSpace(string(text))) > 0
	})
	if err := d.finishHibernations(t.Context(), 50*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if err := hangs.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("the runtime: %v", err)
	}
	if m, err := readManifest(d.layout.checkpoint(id)); err != nil || m.Lost == "" {
		t.Errorf("its loss is not noted: %+v, %v", m, err)
	}
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
