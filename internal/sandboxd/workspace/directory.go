package workspace

import (
	"errors"
	"os"
	"path"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	// beneath confines a path to the directory it starts in, links included.
	// os.Root does not under gVisor: it opens each part of a path with O_NOFOLLOW
	// and O_DIRECTORY, and there the second flag makes the first one void.
	beneath = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS
	// attempts bounds how often a path is tried that others move meanwhile.
	attempts = 32
)

// A directory is one in the workspace. It stays the same one whatever becomes of
// its name, so names are looked up in it one at a time, without following links.
type directory struct {
	fd     int
	shared bool // the workspace itself, which stays open
}

// openTree opens the workspace, by the name that it has outside itself.
func openTree(name string) (directory, error) {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return directory{}, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return directory{fd: fd}, nil
}

// Close lets the directory go.
func (d directory) Close() error {
	if d.shared {
		return nil
	}
	return unix.Close(d.fd)
}

// open opens a path that stays beneath the directory.
func (d directory) open(path string, flags int, mode uint32) (fd int, err error) {
	how := unix.OpenHow{Flags: uint64(flags | unix.O_CLOEXEC), Mode: uint64(mode), Resolve: beneath}
	for range attempts {
		fd, err = unix.Openat2(d.fd, path, &how)
		if !errors.Is(err, syscall.EAGAIN) && !errors.Is(err, syscall.EINTR) {
			return fd, err
		}
	}
	return fd, err
}

// directory opens a directory to look names up in. Nothing else is opened in its
// place: not even a FIFO, which would wait.
func (d directory) directory(path string) (directory, error) {
	fd, err := d.open(path, unix.O_PATH|unix.O_DIRECTORY, 0)
	return directory{fd: fd}, err
}

// parent opens the directory that holds an entry.
func (d directory) parent(name string) (dir directory, base string, err error) {
	above, base := path.Split(name)
	if above == "" {
		return directory{fd: d.fd, shared: true}, base, nil
	}
	dir, err = d.directory(path.Clean(above))
	return dir, base, err
}

// list opens a directory to read its names.
func (d directory) list(path string) (*os.File, error) {
	fd, err := d.open(path, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), ""), nil
}

// create makes a file that was not there.
func (d directory) create(name string, mode uint32) (*os.File, error) {
	fd, err := d.open(name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, mode)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), ""), nil
}

// stat describes what a path leads to.
func (d directory) stat(path string) (stat unix.Stat_t, err error) {
	fd, err := d.open(path, unix.O_PATH, 0)
	if err != nil {
		return stat, err
	}
	defer unix.Close(fd)
	return stat, unix.Fstat(fd, &stat)
}

// lstat describes an entry, a link itself.
func (d directory) lstat(name string) (stat unix.Stat_t, err error) {
	return stat, unix.Fstatat(d.fd, name, &stat, unix.AT_SYMLINK_NOFOLLOW)
}

// unlink removes an entry that is not a directory, or with AT_REMOVEDIR an
// empty directory.
func (d directory) unlink(name string, flags int) error {
	return unix.Unlinkat(d.fd, name, flags)
}

// rename moves an entry to where another one may be, if flags allow it.
func (d directory) rename(from string, to directory, name string, flags uint) error {
	return unix.Renameat2(d.fd, from, to.fd, name, flags)
}

func isDir(stat unix.Stat_t) bool { return stat.Mode&unix.S_IFMT == unix.S_IFDIR }

func isRegular(stat unix.Stat_t) bool { return stat.Mode&unix.S_IFMT == unix.S_IFREG }
