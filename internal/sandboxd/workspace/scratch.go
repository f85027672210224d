package workspace

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"golang.org/x/sys/unix"
)

// Temporary names an entry at the top of the workspace that only sandboxd
// knows: hidden, refused in requests, and swept when it was left behind.
func (w *Workspace) Temporary() string { return w.temporary() }

// Discard removes a directory that has a temporary name, with all below it.
func (w *Workspace) Discard(ctx context.Context, name string) error {
	if !strings.HasPrefix(name, Temporary) || strings.Contains(name, "/") {
		return invalid("Only temporary names are discarded.")
	}
	dir, err := w.root.directory(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return w.explain(err)
	}
	defer dir.Close()
	r := remover{ctx: ctx, top: dir, temporary: w.temporary}
	if err := r.empty(w.root, name, 0); err != nil {
		return w.explain(err)
	}
	for len(r.later) > 0 {
		next := r.later[0]
		r.later = r.later[1:]
		if err := r.remove(dir, next, 0); err != nil {
			return w.explain(err)
		}
	}
	return w.explain(w.unlinkUnseen(name))
}

// unlinkUnseen removes an empty directory that nobody is to have seen: the
// workspace's own time stays what it was.
func (w *Workspace) unlinkUnseen(name string) error {
	stat, err := w.root.stat(".")
	if err != nil {
		return err
	}
	if err := w.root.unlink(name, unix.AT_REMOVEDIR); err != nil {
		return err
	}
	return unix.UtimesNanoAt(w.root.fd, ".", []unix.Timespec{stat.Atim, stat.Mtim}, 0)
}
