package local_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"sandgate/internal/sandboxtest"
	"sandgate/sandboxclient"
)

// TestWake_leavesWhatItCannotRemove: a checkpoint that is used up is no reason to
// end what runs from it.
func TestWake_leavesWhatItCannotRemove(t *testing.T) {
	b := newBench(t, "runsc")
	d := b.open()
	if err := b.create(d); err != nil {
		t.Fatal(err)
	}
	if err := d.Hibernate(t.Context(), b.id, nil); err != nil {
		t.Fatal(err)
	}
	stuck := filepath.Join(b.cfg.StateDir, "sandboxes", string(b.id), "checkpoint", "stuck")
	if err := os.Mkdir(stuck, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", stuck, "tmpfs", 0, "size=1m"); err != nil {
		t.Fatal(err)
	}
	wakeErr := d.Wake(t.Context(), sandboxclient.Spec{ID: b.id, Limits: sandboxclient.DefaultLimits()})
	for _, used := range glob(filepath.Join(b.cfg.StateDir, "sandboxes", string(b.id), "checkpoint*")) {
		_ = unix.Unmount(filepath.Join(used, "stuck"), 0)
		if err := os.RemoveAll(used); err != nil {
			t.Error(err)
		}
	}
	if wakeErr != nil {
		t.Fatal(wakeErr)
	}
	if err := reach(d, b.id); err != nil {
		t.Error(err)
	}
}

// TestWake_losesNothingToWhatPasses: what cannot be read at the moment may be read
// at the next attempt.
func TestWake_losesNothingToWhatPasses(t *testing.T) {
	b := newBench(t, "runsc")
	d := b.asleep()
	dir := filepath.Join(b.cfg.StateDir, "sandboxes", string(b.id), "checkpoint")
	for _, path := range []string{
		filepath.Join(dir, "manifest.json"), filepath.Join(dir, "files.json"), b.cfg.Runtime,
		workspace(b.cfg.StateDir, b.id),
	} {
		away := path + ".away"
		// A loop of links is no word on what there is.
		if err := errors.Join(os.Rename(path, away), os.Symlink(path, path)); err != nil {
			t.Fatal(err)
		}
		err := b.wake(d)
		_, lost := errors.AsType[*sandboxclient.LostError](err)
		if err == nil || lost || errors.Is(err, sandboxclient.ErrNotAsleep) {
			t.Errorf("%s: %v, want an error that may pass", path, err)
		}
		if err := errors.Join(os.Remove(path), os.Rename(away, path)); err != nil {
			t.Fatal(err)
		}
		if ids, err := d.List(t.Context()); err != nil || len(ids) > 0 {
			t.Errorf("%s: list: %v, %v, want none", path, ids, err)
		}
	}
	if err := b.wake(d); err != nil {
		t.Fatal(err)
	}
	if err := reach(d, b.id); err != nil {
		t.Error(err)
	}
}

// TestWake_endsWhatIsLeft: what could not be ended behind a memory that is whole
// is no reason to lose it.
func TestWake_endsWhatIsLeft(t *testing.T) {
	b := newBench(t, "runsc")
	d := b.open()
	if err := b.create(d); err != nil {
		t.Fatal(err)
	}
	b.wrap(fmt.Sprintf("%s \"$@\"; case \"$*\" in *\" checkpoint \"*) mv \"$0\" \"$0.away\";; esac", sandboxtest.Bin("runsc")))
	if err := d.Hibernate(t.Context(), b.id, nil); err != nil {
		t.Errorf("hibernate: %v", err)
	}
	if ids, err := d.List(t.Context()); err != nil || len(ids) != 1 {
		t.Fatalf("list: %v, %v, want what is left", ids, err)
	}
	if err := os.Rename(b.cfg.Runtime+".away", b.cfg.Runtime); err != nil {
		t.Fatal(err)
	}
	if err := b.wake(d); err != nil {
		t.Fatal(err)
	}
	if err := reach(d, b.id); err != nil {
		t.Error(err)
	}
}

// TestWake_tellsOfAFullDisk: the disk that had room when a sandbox began to fall
// asleep may be full before its memory is written.
func TestWake_tellsOfAFullDisk(t *testing.T) {
	b := newBench(t, "runsc")
	b.cfg.StateDir = filepath.Join(stateDir, "fills")
	if err := os.Mkdir(b.cfg.StateDir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", b.cfg.StateDir, "tmpfs", 0, "size=256m"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(b.cfg.StateDir, 0) })
	d := b.open()
	if err := b.create(d); err != nil {
		t.Fatal(err)
	}
	filler := filepath.Join(b.cfg.StateDir, "filler")
	fill := fmt.Sprintf("cat /dev/zero > %s 2>/dev/null; truncate -s -256K %s", filler, filler)
	b.wrap(fmt.Sprintf("case \"$*\" in *\" checkpoint \"*) %s;; esac; exec %s \"$@\"", fill, sandboxtest.Bin("runsc")))
	if err := d.Hibernate(t.Context(), b.id, nil); err == nil || errors.Is(err, sandboxclient.ErrAwake) {
		t.Fatalf("hibernate: %v, want a failure", err)
	}
	err := b.wake(d)
	if lost, ok := errors.AsType[*sandboxclient.LostError](err); !ok || !strings.Contains(lost.Why, "full") {
		t.Errorf("wake: %v, want that the disk was full", err)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	b.use("runsc")
	b.works(d)
}
