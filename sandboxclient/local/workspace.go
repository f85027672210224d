package local

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// makeWorkspace makes a workspace that belongs to the sandbox user, or keeps the
// one that is there. Nothing below it is looked at.
func makeWorkspace(dir string) error {
	if err := makeDir(dir, 0o755); err != nil {
		return err
	}
	return os.Lchown(dir, sandboxUID, sandboxGID)
}

// removeTree removes a directory with all below it. The tree is hostile: links
// are removed and not followed, depth costs neither stack nor descriptors, and
// ctx ends it between any two entries. A missing directory is no error.
func removeTree(ctx context.Context, dir string) error {
	top, err := openDir(unix.AT_FDCWD, dir)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	defer top.Close()
	r := remover{ctx: ctx, top: int(top.Fd())}
	if err := r.empty(top, 0); err != nil {
		return err
	}
	return os.Remove(dir)
}

const (
	removeBatch = 1024
	maxDepth    = 64
)

type remover struct {
	ctx context.Context
	top int // what lies too deep is moved here first
}

// empty removes everything in a directory, in batches: reading goes wrong on
// some file systems while entries go.
func (r remover) empty(dir *os.File, depth int) error {
	for {
		names, err := readNames(dir)
		if err != nil {
			return err
		}
		if len(names) == 0 {
			return nil
		}
		for _, name := range names {
			if err := r.remove(int(dir.Fd()), name, depth); err != nil {
				return err
			}
		}
	}
}

func readNames(dir *os.File) ([]string, error) {
	if _, err := dir.Seek(0, 0); err != nil {
		return nil, err
	}
	names, err := dir.Readdirnames(removeBatch)
	if len(names) > 0 {
		return names, nil
	}
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	return nil, err
}

// remove removes one entry of a directory.
func (r remover) remove(parent int, name string, depth int) error {
	if err := r.ctx.Err(); err != nil {
		return context.Cause(r.ctx)
	}
	err := unix.Unlinkat(parent, name, 0)
	if !errors.Is(err, unix.EISDIR) {
		return pathError("unlink", name, err)
	}
	if depth >= maxDepth {
		return pathError("rename", name, unix.Renameat(parent, name, r.top, ".deep-"+rand.Text()))
	}
	if err := r.descend(parent, name, depth); err != nil {
		return err
	}
	return pathError("rmdir", name, unix.Unlinkat(parent, name, unix.AT_REMOVEDIR))
}

func (r remover) descend(parent int, name string, depth int) error {
	dir, err := openDir(parent, name)
	if err != nil {
		return pathError("open", name, err)
	}
	defer dir.Close()
	return r.empty(dir, depth+1)
}

func openDir(parent int, name string) (*os.File, error) {
	fd, err := unix.Openat(parent, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

func pathError(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &os.PathError{Op: op, Path: name, Err: err}
}
