package local

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// A mark outlives a gateway that is killed while the runtime writes a checkpoint.
// It is locked by all who have a part in the writing, as long as they live, and
// holds something when it succeeded.
const markName = "mark"

// newMark makes the mark of a checkpoint that is to be written, locked for who
// has the file and for the processes that inherit it.
func newMark(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, markName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// written waits until nobody writes a checkpoint any more, and says whether it is
// whole.
func written(ctx context.Context, dir string) (bool, error) {
	f, err := os.Open(filepath.Join(dir, markName))
	if errors.Is(err, os.ErrNotExist) { // nobody had begun
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	if err := awaitLock(ctx, f); err != nil {
		return false, err
	}
	info, err := f.Stat()
	return err == nil && info.Size() > 0, err
}

// awaitLock waits for a lock that others hold. The kernel's own way to wait for
// it knows no ctx.
func awaitLock(ctx context.Context, f *os.File) error {
	const pause = 10 * time.Millisecond
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}
