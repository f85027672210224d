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
	"syscall"

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

// Open opens a file, or a directory as a listing if list is not nil. What is
// neither is refused without waiting on it: a FIFO blocks nobody.
func (w *Workspace) Open(name string) (*File, error) {
	name, err := clean(name)
	if err != nil {
		return nil, err
	}
	f, err := w.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, w.explain(err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		err = notRegular()
	}
	if err != nil {
		f.Close()
		return nil, w.explain(err)
	}
	return &File{File: f, Info: describe(path.Base(name), info)}, nil
}

// IsDir says whether the file is to be listed and not read.
func (f *File) IsDir() bool { return f.Info.Type == wire.TypeDirectory }

// Stat describes an entry; a link is described itself, wherever it leads.
func (w *Workspace) Stat(name string) (wire.FileInfo, error) {
	name, err := clean(name)
	if err != nil {
		return wire.FileInfo{}, err
	}
	info, err := w.root.Lstat(name)
	if err != nil {
		return wire.FileInfo{}, w.explain(err)
	}
	return describe(path.Base(name), info), nil
}

// List lists a directory: of very many entries the first in order. It holds
// some more names than it gives at a time, however large the directory is.
func (w *Workspace) List(ctx context.Context, name string) (wire.Listing, error) {
	name, err := clean(name)
	if err != nil {
		return wire.Listing{}, err
	}
	dir, err := openDir(w.root, name)
	if err != nil {
		return wire.Listing{}, w.explain(err)
	}
	defer dir.Close()
	names, truncated, err := firstNames(ctx, dir)
	if err != nil {
		return wire.Listing{}, w.explain(err)
	}
	entries, err := describeAll(ctx, dir, names)
	if err != nil {
		return wire.Listing{}, w.explain(err)
	}
	return wire.Listing{Path: path.Join("/workspace", name), Entries: entries, Truncated: truncated}, nil
}

// firstNames gives the first MaxEntries names in order, and whether there are more.
func firstNames(ctx context.Context, dir *os.Root) (names []string, truncated bool, err error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	for ctx.Err() == nil {
		batch, err := f.Readdirnames(entriesAtOnce)
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

func describeAll(ctx context.Context, dir *os.Root, names []string) ([]wire.FileInfo, error) {
	entries := make([]wire.FileInfo, 0, len(names))
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		info, err := dir.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		}
		if err != nil {
			return nil, err
		}
		entries = append(entries, describe(name, info))
	}
	return entries, nil
}
