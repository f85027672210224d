package execution

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// hidden begins the names of sandboxd's own files in a workspace, which are
// never shown, and are swept if one was left.
const hidden = ".sandgate-"

// private is for sandboxd alone.
const private = 0o600

// createNameless makes a file that no name leads to, nor ever did where that
// can be had.
func createNameless(dir string) (file, error) {
	if f, err := os.OpenFile(dir, os.O_RDWR|unix.O_TMPFILE|os.O_EXCL, private); err == nil {
		return f, nil
	}
	return createUnlinked(dir)
}

// createUnlinked makes a file and takes its name away at once.
func createUnlinked(dir string) (file, error) {
	name := filepath.Join(dir, hidden+"log-"+rand.Text())
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, private)
	if err != nil {
		return nil, err
	}
	if err := unix.Unlink(name); err != nil {
		return nil, errors.Join(&os.PathError{Op: "unlink", Path: name, Err: err}, f.Close())
	}
	return f, nil
}

// lookAt tells the size of a directory's file system, and what is free of it.
func lookAt(dir string) (size, free int64, err error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return 0, 0, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return int64(stat.Blocks) * stat.Bsize, int64(stat.Bavail) * stat.Bsize, nil
}

// spareFiles is how many descriptors logs may use of those that sandboxd has.
func spareFiles() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return maxFiles / 8
	}
	return int(min(limit.Cur/4, maxFiles))
}
