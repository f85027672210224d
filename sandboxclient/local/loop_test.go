package local

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// noMoreFiles lets this process open nothing while f runs.
func noMoreFiles(t *testing.T, f func()) {
	t.Helper()
	var before unix.Rlimit
	if err := unix.Prlimit(0, unix.RLIMIT_NOFILE, nil, &before); err != nil {
		t.Fatal(err)
	}
	if err := unix.Prlimit(0, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 0, Max: before.Max}, nil); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Prlimit(0, unix.RLIMIT_NOFILE, &before, nil); err != nil {
			t.Error(err)
		}
	}()
	f()
}

// A gateway that was short of something once is not taken for one whose host
// gives no loop devices, which would leave every workspace without a size.
func TestDisks_shortOfFilesIsNotUnable(t *testing.T) {
	l := newDiskLab(t)
	path := filepath.Join(l.disks.layout.run(), "image")
	if err := makeImage(t.Context(), path, minImage); err != nil {
		t.Fatal(err)
	}
	image, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer image.Close()
	noMoreFiles(t, func() {
		if _, err := attachLoop(t.Context(), image); !errors.Is(err, unix.EMFILE) || errors.Is(err, errNoLoop) {
			t.Errorf("attach: %v", err)
		}
		if !attached(image) {
			t.Error("an image that may have a device would be repaired")
		}
		if err := l.disks.open(t.Context(), l.id, diskSize); !errors.Is(err, unix.EMFILE) {
			t.Errorf("open: %v", err)
		}
		if able, err := l.disks.able(t.Context()); able || !errors.Is(err, unix.EMFILE) {
			t.Errorf("able: %v, %v", able, err)
		}
	})
	l.open(diskSize)
	l.isMounted(true)
}

func TestTold(t *testing.T) {
	for err, last := range map[error]bool{
		unix.ENOENT: true, unix.ENXIO: true, unix.ENODEV: true, unix.EPERM: true, unix.EACCES: true,
		unix.EMFILE: false, unix.ENFILE: false, unix.ENOMEM: false, unix.EIO: false, unix.EAGAIN: false, unix.EINTR: false,
		unix.EINVAL: false, unix.ENOSPC: false, unix.EUCLEAN: false,
	} {
		got := told(errNoMount, &os.PathError{Op: "mount", Path: "x", Err: err})
		if errors.Is(got, errNoMount) != last || !errors.Is(got, err) {
			t.Errorf("%v: %v", err, got)
		}
	}
}
