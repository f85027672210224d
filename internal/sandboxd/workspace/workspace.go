// Package workspace is the files of a sandbox: everything below one directory,
// and nothing outside it.
//
// Every name goes through [os.Root], because whoever runs code in the sandbox
// can turn any directory into a link between two steps of ours. What is written
// appears whole, under its final owner, or not at all.
package workspace

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path"
	"strings"
	"sync"

	"sandgate/internal/sandboxd/shim"
)

// Temporary begins the names of files that are not complete yet. They belong to
// sandboxd: hidden, refused in requests, swept.
const Temporary = ".sandgate-"

// What a path can be at most, for every file system that is meant.
const (
	maxPath = 4096
	maxName = 255
)

// A Workspace is one directory tree. Its methods take paths relative to it,
// slash-separated; "." is the workspace itself.
type Workspace struct {
	root    *os.Root
	log     *slog.Logger
	escapes error // what os.Root says of a path that leads out
	boot    string
	uid     int
	gid     int

	// commit is held from the last check of a condition to the rename that
	// depends on it, so that two writers cannot both find it true.
	commit sync.Mutex
}

// Open opens the directory. What an earlier sandboxd left unfinished in it is
// swept aside from then on, until ctx ends.
func Open(ctx context.Context, dir string, log *slog.Logger) (*Workspace, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	w := &Workspace{
		root:    root,
		log:     log,
		escapes: escapeError(root),
		boot:    randomName(),
		uid:     shim.SandboxUID,
		gid:     shim.SandboxGID,
	}
	go w.sweep(ctx)
	return w, nil
}

// Close lets the directory go.
func (w *Workspace) Close() error { return w.root.Close() }

// escapeError provokes the error that has no exported name.
func escapeError(root *os.Root) error {
	_, err := root.Lstat("..")
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return e.Err
	}
	return err
}

// clean checks a path and drops what means nothing from it. It takes no ".." for
// whoever resolves that by text alone is wrong about links. Where a path leads
// is os.Root's to decide.
func clean(name string) (string, error) {
	switch {
	case name == "":
		return "", invalid("The path is missing.")
	case len(name) > maxPath:
		return "", invalid("The path is longer than %d bytes.", maxPath)
	case strings.ContainsRune(name, 0):
		return "", invalid("The path holds a NUL byte.")
	case strings.HasPrefix(name, "/"):
		return "", outside()
	}
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part == "..":
			return "", outside()
		case len(part) > maxName:
			return "", invalid("A name in the path is longer than %d bytes.", maxName)
		case strings.HasPrefix(part, Temporary):
			return "", invalid("Names that begin with %s are reserved.", Temporary)
		}
	}
	return path.Clean(name), nil
}

// parent opens the directory that holds an entry, so that it stays the same one
// in all that is done to the entry.
func (w *Workspace) parent(name string) (dir directory, base string, err error) {
	above, base := path.Split(name)
	if above == "" {
		return directory{Root: w.root, shared: true}, base, nil
	}
	root, err := openDir(w.root, path.Clean(above))
	return directory{Root: root}, base, err
}

// A directory is one in the workspace, or the workspace itself, which stays
// open: most files lie there, and opening it again is a good part of a small
// write.
type directory struct {
	*os.Root
	shared bool
}

// Close lets the directory go.
func (d directory) Close() error {
	if d.shared {
		return nil
	}
	return d.Root.Close()
}

// openDir opens a directory and nothing else. OpenRoot alone would open a FIFO
// in its place and wait; before a last "." it takes directories only.
func openDir(in *os.Root, name string) (*os.Root, error) {
	return in.OpenRoot(name + "/.")
}
