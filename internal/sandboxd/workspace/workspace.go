// Package workspace is the files of a sandbox: everything below one directory,
// and nothing outside it.
//
// Whoever runs code in the sandbox can turn any directory into a link between
// two steps of ours, so every path is resolved by the kernel, in one call that
// cannot leave the workspace. What is written appears whole, under its final
// owner, or not at all.
package workspace

import (
	"log/slog"
	"path"
	"strings"
	"sync"
	"sync/atomic"

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
	dir  string
	root directory
	log  *slog.Logger
	boot atomic.Pointer[string] // begins the temporary names of this process
	uid  int
	gid  int

	// commit is held from the last check of a condition to the rename that
	// depends on it, so that two writers cannot both find it true.
	commit sync.Mutex
}

// Open opens the directory. What an earlier sandboxd left unfinished in it is
// Sweep's to remove.
func Open(dir string, log *slog.Logger) (*Workspace, error) {
	root, err := openTree(dir)
	if err != nil {
		return nil, err
	}
	w := &Workspace{dir: dir, root: root, log: log, uid: shim.SandboxUID, gid: shim.SandboxGID}
	w.boot.Store(new(Temporary + randomName()))
	return w, nil
}

// Dir is where the directory is.
func (w *Workspace) Dir() string { return w.dir }

// Close lets the directory go.
func (w *Workspace) Close() error { return w.root.Close() }

// clean checks a path and drops what means nothing from it. It takes no ".." for
// whoever resolves that by text alone is wrong about links. Where a path leads
// is the kernel's to decide.
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
