package workspace

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"sandgate/sandboxclient/wire"
)

const (
	// MaxEntries is how many entries a listing holds at most.
	MaxEntries = 10_000
	// entriesAtOnce is how many names are read from a directory at once.
	entriesAtOnce = 1024
)

// A File is an open file with what it was when it was opened.
type File struct {
	*os.File
	Info wire.FileInfo
}

// Open opens a file, or a directory that List then lists. What is neither is
// refused without waiting on it: a FIFO blocks nobody.
func (w *Workspace) Open(name string) (*File, error) {
	name, err := clean(name)
	if err != nil {
		return nil, err
	}
	fd, err := w.root.open(name, unix.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, w.explain(err)
	}
	var stat unix.Stat_t
	err = unix.Fstat(fd, &stat)
	if err == nil && !isRegular(stat) && !isDir(stat) {
		err = notRegular()
	}
	if err != nil {
		unix.Close(fd)
		return nil, w.explain(err)
	}
	return &File{File: os.NewFile(uintptr(fd), ""), Info: describe(path.Base(name), stat)}, nil
}

// IsDir says whether the file is to be listed and not read.
func (f *File) IsDir() bool { return f.Info.Type == wire.TypeDirectory }

// Stat describes an entry; a link is described itself, wherever it leads.
func (w *Workspace) Stat(name string) (wire.FileInfo, error) {
	name, err := clean(name)
	if err != nil {
		return wire.FileInfo{}, err
	}
	dir, base, err := w.root.parent(name)
	if err != nil {
		return wire.FileInfo{}, w.explain(err)
	}
	defer dir.Close()
	stat, err := dir.lstat(base)
	return describe(base, stat), w.explain(err)
}

// List lists a directory: of very many entries the first in order. It holds
// some more names than it gives at a time, however large the directory is.
func (w *Workspace) List(ctx context.Context, name string) (wire.Listing, error) {
	name, err := clean(name)
	if err != nil {
		return wire.Listing{}, err
	}
	f, err := w.root.list(name)
	if err != nil {
		return wire.Listing{}, w.explain(err)
	}
	defer f.Close()
	names, truncated, err := firstNames(ctx, f)
	if err != nil {
		return wire.Listing{}, w.explain(err)
	}
	entries, err := describeAll(ctx, directory{fd: int(f.Fd())}, names)
	if err != nil {
		return wire.Listing{}, w.explain(err)
	}
	return wire.Listing{Path: path.Join("/workspace", name), Entries: entries, Truncated: truncated}, nil
}

// firstNames gives the first MaxEntries names in order, and whether there are more.
func firstNames(ctx context.Context, dir *os.File) (names []string, truncated bool, err error) {
	for ctx.Err() == nil {
		batch, err := dir.Readdirnames(entriesAtOnce)
		for _, name := range batch {
			if !strings.HasPrefix(name, Temporary) {
				names = append(names, name)
			}
		}
		if errors.Is(err, io.EOF) {
			names, cut := first(names)
			return names, truncated || cut, nil
		}
		if err != nil {
			return nil, false, err
		}
		if len(names) >= 2*MaxEntries {
			names, _ = first(names)
			truncated = true
		}
	}
	return nil, false, ctx.Err()
}

func first(names []string) (kept []string, cut bool) {
	slices.Sort(names)
	if len(names) <= MaxEntries {
		return names, false
	}
	return names[:MaxEntries], true
}

func describeAll(ctx context.Context, dir directory, names []string) ([]wire.FileInfo, error) {
	entries := make([]wire.FileInfo, 0, len(names))
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		stat, err := dir.lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		}
		if err != nil {
			return nil, err
		}
		entries = append(entries, describe(name, stat))
	}
	return entries, nil
}
