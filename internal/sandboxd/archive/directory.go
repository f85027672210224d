package archive

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	// within confines a path that visitors name to the directory it starts in;
	// links that stay in it are followed.
	within = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS
	// itself is for a single name, which is never a link that is followed.
	// O_NOFOLLOW will not do: under gVisor O_DIRECTORY makes it void.
	itself = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS
	// attempts bounds how often a path is tried that others move meanwhile.
	attempts = 32
)

// A directory is an open one. It stays the same whatever becomes of its name.
type directory struct{ fd int }

// Close lets the directory go.
func (d directory) Close() error { return unix.Close(d.fd) }

func (d directory) open(path string, flags int, mode uint32, resolve uint64) (fd int, err error) {
	how := unix.OpenHow{Flags: uint64(flags | unix.O_CLOEXEC), Mode: uint64(mode), Resolve: resolve}
	for range attempts {
		fd, err = unix.Openat2(d.fd, path, &how)
		if !errors.Is(err, syscall.EAGAIN) && !errors.Is(err, syscall.EINTR) {
			return fd, err
		}
	}
	return fd, err
}

// directory opens a directory to read its names.
func (d directory) directory(path string, resolve uint64) (directory, error) {
	fd, err := d.open(path, unix.O_RDONLY|unix.O_DIRECTORY, 0, resolve)
	return directory{fd}, err
}

func (d directory) lstat(name string) (stat unix.Stat_t, err error) {
	return stat, unix.Fstatat(d.fd, name, &stat, unix.AT_SYMLINK_NOFOLLOW)
}

// readlink gives where a link leads.
func (d directory) readlink(name string) (string, error) {
	buf := make([]byte, maxPath+1)
	n, err := unix.Readlinkat(d.fd, name, buf)
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}

func kind(stat unix.Stat_t) uint32 { return stat.Mode & unix.S_IFMT }

func isDir(stat unix.Stat_t) bool { return kind(stat) == unix.S_IFDIR }
