package local

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// What is marked outlives a gateway that is killed while the runtime writes a
// checkpoint. The file is locked by all who have a part in the writing, as long as they live,
// and they write into it who they are and that they succeeded. It has room for
// that before the disk is full.
type marked struct {
	pid   int // of those who write, as a process group; 0: nobody had begun
	whole bool
}

const (
	markName = "mark"
	success  = "whole"
	markSize = 64
)

// longestWrite bounds how long one is waited for who still writes.
const longestWrite = 10 * time.Minute

var errNotWritten = errors.New("the runtime does not go on with a checkpoint")

// newMark makes the mark of a checkpoint that is to be written, locked for who
// has the file and for the processes that inherit it.
func newMark(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, markName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = f.WriteAt(bytes.Repeat([]byte("\n"), markSize), 0) // and those who write begin at 0
	if err == nil {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// awaitMark waits until nobody writes a checkpoint any more, and gives what was
// marked. Who writes nothing for as long as patience is not waited for.
func awaitMark(ctx context.Context, dir string, patience time.Duration) (marked, error) {
	f, err := os.Open(filepath.Join(dir, markName))
	if errors.Is(err, os.ErrNotExist) {
		return marked{}, nil
	}
	if err != nil {
		return marked{}, err
	}
	defer f.Close()
	stuck := awaitLock(ctx, f, dir, patience)
	text, err := io.ReadAll(io.LimitReader(f, markSize))
	if err != nil {
		return marked{}, err
	}
	var m marked
	for word := range strings.FieldsSeq(string(text)) {
		if word == success {
			m.whole = true
		} else if m.pid, err = strconv.Atoi(word); err != nil {
			return marked{}, err
		}
	}
	return m, stuck
}

// begun says whether the runtime was called at all.
func (m marked) begun() bool { return m.pid > 0 }

// end ends those who still write. The lock that they hold says that they live, and
// so the group is theirs.
func (m marked) end() {
	if m.pid > 1 {
		_ = unix.Kill(-m.pid, unix.SIGKILL) // they may have ended just now
	}
}

// awaitLock waits for a lock that others hold. The kernel's own way to wait for
// it knows no ctx.
func awaitLock(ctx context.Context, f *os.File, dir string, patience time.Duration) error {
	const pause = 10 * time.Millisecond
	for size, grew := int64(-1), time.Now(); ; {
		err := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return err
		}
		if now := sizeOf(dir); now != size {
			size, grew = now, time.Now()
		} else if time.Since(grew) >= patience {
			return errNotWritten
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// sizeOf is how much the files of a directory take, as far as it can be told.
func sizeOf(dir string) (sum int64) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			sum += info.Size()
		}
	}
	return sum
}
