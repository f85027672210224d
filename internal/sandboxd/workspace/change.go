package workspace

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"sort"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"sandgate/sandboxclient/wire"
)

// newDirMode is what a new directory is given.
const newDirMode = 0o755

// Mkdir makes a directory and those above it. One that is there is fine.
func (w *Workspace) Mkdir(name string) (wire.FileInfo, error) {
	name, err := clean(name)
	if err != nil {
		return wire.FileInfo{}, err
	}
	if err := w.makeDirs(name); err != nil {
		return wire.FileInfo{}, w.explain(err)
	}
	stat, err := w.root.stat(name)
	if err != nil {
		return wire.FileInfo{}, w.explain(err)
	}
	if !isDir(stat) {
		return wire.FileInfo{}, fail(wire.CodeConflict, "The path exists, and is not a directory.")
	}
	return describe(path.Base(name), stat), nil
}

// makeDirs makes what is missing of a path. Below the first directory that is
// missing everything is, so from there on single names are made, each in the
// directory made before it.
func (w *Workspace) makeDirs(name string) error {
	parts := strings.Split(name, "/")
	missing := sort.Search(len(parts), func(i int) bool {
		_, err := w.root.stat(path.Join(parts[:i+1]...))
		return errors.Is(err, fs.ErrNotExist)
	})
	if missing == len(parts) {
		return nil
	}
	dir, err := w.root.directory(path.Join(".", path.Join(parts[:missing]...)))
	for _, part := range parts[missing:] {
		if err != nil {
			return err
		}
		dir, err = w.makeDir(dir, part)
	}
	if err != nil {
		return err
	}
	return dir.Close()
}

// makeDir makes and opens one directory, and closes the one it is made in. It
// appears with its owner. Whoever makes the same one meanwhile is welcome.
func (w *Workspace) makeDir(in directory, name string) (directory, error) {
	defer in.Close()
	tmp := w.temporary()
	if err := unix.Mkdirat(in.fd, tmp, 0o700); err != nil {
		return directory{}, err
	}
	if err := w.appear(in, tmp, name); err != nil {
		removal := in.unlink(tmp, unix.AT_REMOVEDIR)
		if !errors.Is(err, fs.ErrExist) {
			return directory{}, errors.Join(err, removal)
		}
	}
	made, err := in.directory(name)
	if errors.Is(err, fs.ErrNotExist) {
		err = syscall.ENOTDIR // it exists: a link that leads nowhere
	}
	return made, err
}

func (w *Workspace) appear(in directory, tmp, name string) error {
	made, err := in.list(tmp)
	if err != nil {
		return err
	}
	defer made.Close()
	if err := made.Chown(w.uid, w.gid); err != nil {
		return err
	}
	if err := made.Chmod(newDirMode); err != nil {
		return err
	}
	w.commit.Lock()
	defer w.commit.Unlock()
	return renameNew(in, tmp, in, name)
}

// Remove removes a file, a link itself, or a directory; one that is not empty
// only if recursive is set.
func (w *Workspace) Remove(ctx context.Context, name string, recursive bool) error {
	name, err := clean(name)
	if err != nil {
		return err
	}
	if name == "." {
		return fail(wire.CodeConflict, "The workspace itself cannot be removed.")
	}
	dir, base, err := w.root.parent(name)
	if err != nil {
		return w.explain(err)
	}
	defer dir.Close()
	stat, err := dir.lstat(base)
	if err != nil {
		return w.explain(err)
	}
	if !isDir(stat) {
		return w.explain(dir.unlink(base, 0))
	}
	if recursive {
		return w.explain(w.removeTree(ctx, dir, base))
	}
	return w.explain(dir.unlink(base, unix.AT_REMOVEDIR))
}

// Rename moves an entry. What is at its new path is a conflict, unless replace
// is set: then a file takes a file's place, and a directory an empty one's.
func (w *Workspace) Rename(from, to string, replace bool) (wire.FileInfo, error) {
	from, err := clean(from)
	if err != nil {
		return wire.FileInfo{}, err
	}
	to, err = clean(to)
	if err != nil {
		return wire.FileInfo{}, err
	}
	if from == "." || to == "." {
		return wire.FileInfo{}, fail(wire.CodeConflict, "The workspace itself cannot be moved.")
	}
	if strings.HasPrefix(to, from+"/") {
		return wire.FileInfo{}, invalid("A directory cannot be moved into itself.")
	}
	if err := w.rename(from, to, replace); err != nil {
		return wire.FileInfo{}, w.explain(err)
	}
	return w.Stat(to)
}

func (w *Workspace) rename(from, to string, replace bool) error {
	source, fromBase, err := w.root.parent(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, toBase, err := w.root.parent(to)
	if err != nil {
		return err
	}
	defer target.Close()
	w.commit.Lock()
	defer w.commit.Unlock()
	if replace {
		return source.rename(fromBase, target, toBase, 0)
	}
	return renameNew(source, fromBase, target, toBase)
}

// renameNew replaces nothing. Where the file system knows the flag, no program
// can come between the look and the move; gVisor's bind mounts do not know it.
func renameNew(source directory, from string, target directory, to string) error {
	err := source.rename(from, target, to, unix.RENAME_NOREPLACE)
	if !errors.Is(err, syscall.EINVAL) {
		return err
	}
	if _, err := source.lstat(from); err != nil {
		return err
	}
	switch _, err := target.lstat(to); {
	case err == nil:
		return syscall.EEXIST
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return source.rename(from, target, to, 0)
}
