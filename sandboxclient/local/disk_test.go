package local

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"sandgate/sandboxclient"
)

const diskSize = 32 << 20

// A diskLab is a state directory with one workspace, without a sandbox on it.
type diskLab struct {
	*testing.T
	disks *disks
	id    sandboxclient.ID
	dir   string
}

func newDiskLab(t *testing.T) *diskLab {
	t.Helper()
	needRoot(t)
	l := layout{newDir(t)}
	id := sandboxclient.DeriveID([]byte(rand.Text()), sandboxclient.Ref{})
	if err := errors.Join(os.MkdirAll(l.sandbox(id), 0o700), os.MkdirAll(l.run(), 0o700)); err != nil {
		t.Fatal(err)
	}
	lab := &diskLab{T: t, disks: newDisks(l, slog.New(slog.DiscardHandler)), id: id, dir: l.workspace(id)}
	t.Cleanup(func() { lab.close(sandboxclient.RemoveWorkspace) })
	return lab
}

func (l *diskLab) open(size int64) {
	l.Helper()
	if err := l.disks.open(l.Context(), l.id, size); err != nil {
		l.Fatal(err)
	}
}

func (l *diskLab) close(workspace sandboxclient.Workspace) {
	l.Helper()
	if err := l.disks.close(context.Background(), l.id, workspace); err != nil {
		l.Error(err)
	}
	if mounted(l.dir) {
		l.Error("still mounted")
	}
}

func (l *diskLab) write(name string) {
	l.Helper()
	if err := os.WriteFile(filepath.Join(l.dir, name), []byte(name), 0o644); err != nil {
		l.Fatal(err)
	}
}

// holds checks what there is in the workspace.
func (l *diskLab) holds(names ...string) {
	l.Helper()
	entries, err := os.ReadDir(l.dir)
	if err != nil || len(entries) != len(names) {
		l.Fatalf("the workspace holds %v, %v, want %v", entries, err, names)
	}
	for i, e := range entries {
		if e.Name() != names[i] {
			l.Errorf("the workspace holds %q, want %q", e.Name(), names[i])
		}
	}
}

func (l *diskLab) isMounted(want bool) {
	l.Helper()
	if mounted(l.dir) != want {
		l.Errorf("mounted: %v", !want)
	}
}

// powerCut mounts what has reached the disk, and gives where a file of the
// workspace is there.
func (l *diskLab) powerCut(path string) string {
	l.Helper()
	after := newDiskLab(l.T)
	if err := copyImage(l.disks.layout.image(l.id), after.disks.layout.image(after.id)); err != nil {
		l.Fatal(err)
	}
	after.open(diskSize)
	return after.dir + strings.TrimPrefix(path, l.dir)
}

func TestDisks_aPlainWorkspaceStaysOne(t *testing.T) {
	l := newDiskLab(t)
	l.open(0)
	l.write("old")
	l.open(diskSize)
	l.isMounted(false)
	l.holds("old")
}

func TestDisks_anImageIsMountedWhateverTheSize(t *testing.T) {
	l := newDiskLab(t)
	l.open(diskSize)
	l.write("kept")
	for _, size := range []int64{0, diskSize, 2 * diskSize} {
		l.close(sandboxclient.KeepWorkspace)
		l.open(size)
		l.isMounted(true)
		l.holds("kept")
	}
}

func TestDisks_anImageTakesWhatIsUsedOfIt(t *testing.T) {
	l := newDiskLab(t)
	l.open(2 << 30)
	l.close(sandboxclient.KeepWorkspace)
	var stat unix.Stat_t
	if err := unix.Stat(l.disks.layout.image(l.id), &stat); err != nil {
		t.Fatal(err)
	}
	if used := stat.Blocks * 512; used > 8<<20 {
		t.Errorf("an empty workspace takes %d bytes", used)
	}
}

func TestDisks_oneDeviceForAnImage(t *testing.T) {
	l := newDiskLab(t)
	l.open(diskSize)
	l.write("shared")
	again := newDir(t)
	if err := mountImage(t.Context(), l.disks.layout.image(l.id), again); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Unmount(again, 0); err != nil {
			t.Error(err)
		}
	}()
	if _, err := os.Stat(filepath.Join(again, "shared")); err != nil {
		t.Errorf("the second mount is of another file system: %v", err)
	}
}

// closeInUse closes a workspace in which somebody on the host has the file "kept" open.
func (l *diskLab) closeInUse() *os.File {
	l.Helper()
	l.open(diskSize)
	l.write("kept")
	held, err := os.Open(filepath.Join(l.dir, "kept"))
	if err != nil {
		l.Fatal(err)
	}
	l.close(sandboxclient.KeepWorkspace)
	return held
}

// TestDisks_inUse closes a workspace in which somebody on the host has a file open.
func TestDisks_inUse(t *testing.T) {
	l := newDiskLab(t)
	held := l.closeInUse()
	l.open(diskSize) // finds the device that is still there
	l.holds("kept")
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	l.write("later")
	l.holds("kept", "later")
}

func TestDisks_errorsAreRepaired(t *testing.T) {
	l := newDiskLab(t)
	l.open(diskSize)
	l.write("kept")
	l.close(sandboxclient.KeepWorkspace)
	path := l.disks.layout.image(l.id)
	if out, err := exec.CommandContext(t.Context(), "debugfs", "-w", "-R", "set_super_value state 2", path).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	image, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer image.Close()
	if !hasErrors(image) {
		t.Fatal("no error is seen: nothing is tested")
	}
	l.open(diskSize)
	if hasErrors(image) {
		t.Error("the errors are still there")
	}
	if _, err := os.Stat(filepath.Join(l.dir, "kept")); err != nil {
		t.Error(err)
	}
}

func TestDisks_whatCannotBeRepairedIsLeftAlone(t *testing.T) {
	l := newDiskLab(t)
	l.open(diskSize)
	l.close(sandboxclient.KeepWorkspace)
	if err := os.WriteFile(l.disks.layout.image(l.id), make([]byte, diskSize), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := l.disks.open(t.Context(), l.id, diskSize); err == nil {
		t.Error("an image without a file system was mounted")
	}
	l.isMounted(false)
}

func TestDisks_withoutLoopDevices(t *testing.T) {
	l := newDiskLab(t)
	l.disks.refused = errNoLoop
	l.open(diskSize)
	l.isMounted(false)
	l.write("works")
	l.holds("works")
}

func TestDisks_withoutMkfs(t *testing.T) {
	l := newDiskLab(t)
	dirs := toolDirs
	t.Cleanup(func() { toolDirs = dirs })
	toolDirs = []string{t.TempDir()}
	if err := l.disks.open(t.Context(), l.id, diskSize); !errors.Is(err, errNoMkfs) {
		t.Errorf("open: %v, want that mkfs is missing", err)
	}
	l.open(0)
}

func TestDisks_sweep(t *testing.T) {
	l := newDiskLab(t)
	dir := filepath.Join(l.disks.layout.run(), tryPrefix+"left")
	at := filepath.Join(dir, "mnt")
	if err := os.MkdirAll(at, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", at, "tmpfs", 0, ""); err != nil {
		t.Fatal(err)
	}
	if err := l.disks.sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

// TestDisks_powerCut mounts an image as it was on the disk while it was in use.
func TestDisks_powerCut(t *testing.T) {
	l := newDiskLab(t)
	l.open(diskSize)
	f, err := os.Create(filepath.Join(l.dir, "synced"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(l.powerCut(f.Name())); err != nil {
		t.Error(err)
	}
}
