package sandboxtest

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// SmallDisk gives a directory on a file system of its own with so many bytes.
// It is gone with the test; what still has files open there is waited for.
func SmallDisk(t testing.TB, size int64) string {
	t.Helper()
	if os.Geteuid() != 0 {
		Missing(t, "mounting a small disk needs root")
	}
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		err := unix.Unmount(dir, 0)
		for deadline := time.Now().Add(10 * time.Second); errors.Is(err, unix.EBUSY) && time.Now().Before(deadline); {
			time.Sleep(50 * time.Millisecond)
			err = unix.Unmount(dir, 0)
		}
		if err != nil {
			t.Error(err)
			_ = unix.Unmount(dir, unix.MNT_DETACH)
		}
	})
	return dir
}
