package workspace

import (
	"errors"
	"io/fs"
	"os"
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
	info, err := w.root.Stat(name)
	if err != nil {
		return wire.FileInfo{}, w.explain(err)
	}
	if !info.IsDir() {
		return wire.FileInfo{}, fail(wire.CodeConflict, "The path exists, and is not a directory")
	}
	return describe(path.Base(name), info), nil
}

// makeDirs makes what is missing of a path. Below the first directory that is
// missing everything is, so from there on single names are made, each in the
// directory made before it.
func (w *Workspace) makeDirs(name string) error {
	parts := strings.Split(name, "/")
	missing := sort.Search(len(parts), func(i int) bool {
		_, err := w.root.Stat(path.Join(parts[:i+1]...))
		return errors.Is(err, fs.ErrNotExist)
	})
	if missing == len(parts) {
		return nil
	}
	dir, err := openDir(w.root, path.Join(".", path.Join(parts[:missing]...)))
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
func (w *Workspace) makeDir(in *os.Root, name string) (*os.Root, error) {
	defer in.Close()
	tmp := w.temporary()
	if err := in.Mkdir(tmp, 0o700); err != nil {
		return nil, err
	}
	if err := w.appear(in, tmp, name); err != nil {
		removal := in.Remove(tmp)
		if !errors.Is(err, syscall.ENOTEMPTY) && !errors.Is(err, fs.ErrExist) {
			return nil, errors.Join(err, removal)
		}
	}
	return openDir(in, name)
}

func (w *Workspace) appear(in *os.Root, tmp, name string) error {
	if err := in.Lchown(tmp, w.uid, w.gid); err != nil {
		return err
	}
	if err := in.Chmod(tmp, newDirMode); err != nil {
		return err
	}
	return in.Rename(tmp, name)
}

// Remove removes a file, a link itself, or a directory; one that is not empty
// only if recursive is set.
func (w *Workspace) Remove(name string, recursive bool) error {
	name, err := clean(name)
	if err != nil {
		return err
	}
	if name == "." {
		return fail(wire.CodeConflict, "The workspace itself cannot be removed")
	}
	dir, base, err := w.parent(name)
	if err != nil {
		return w.explain(err)
	}
	defer dir.Close()
	if _, err := dir.Lstat(base); err != nil {
		return w.explain(err)
	}
	if recursive {
		return w.explain(dir.RemoveAll(base))
	}
	return w.explain(dir.Remove(base))
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
		return wire.FileInfo{}, fail(wire.CodeConflict, "The workspace itself cannot be moved")
	}
	if strings.HasPrefix(to, from+"/") {
		return wire.FileInfo{}, invalid("A directory cannot be moved into itself.")
	}
	if err := w.rename(from, to, replace); err != nil {
		return wire.FileInfo{}, w.explain(err)
	}
	return w.Stat(to)
}

// rename leaves it to the system to refuse what is there: only there no program
// can come between.
func (w *Workspace) rename(from, to string, replace bool) error {
	source, err := w.root.Open(path.Dir(from) + "/.")
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := w.root.Open(path.Dir(to) + "/.")
	if err != nil {
		return err
	}
	defer target.Close()
	flags := uint(unix.RENAME_NOREPLACE)
	if replace {
		flags = 0
	}
	w.commit.Lock()
	defer w.commit.Unlock()
	return unix.Renameat2(int(source.Fd()), path.Base(from), int(target.Fd()), path.Base(to), flags)
}
