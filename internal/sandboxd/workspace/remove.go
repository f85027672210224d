package workspace

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// maxHeld bounds the directories that a walk holds open, one in the other.
const maxHeld = 64

// removeTree removes a directory with all below it. A link is removed itself,
// also one that takes a directory's place meanwhile.
func (w *Workspace) removeTree(ctx context.Context, in directory, name string) error {
	r := remover{ctx: ctx, top: in, temporary: w.temporary}
	if err := r.remove(in, name, 0); err != nil {
		return err
	}
	for len(r.later) > 0 {
		next := r.later[0]
		r.later = r.later[1:]
		if err := r.remove(in, next, 0); err != nil {
			return err
		}
	}
	return nil
}

// A remover walks down a tree. What lies too deep to hold every directory above
// it open is moved up to the top and removed later.
type remover struct {
	ctx       context.Context
	top       directory
	temporary func() string
	later     []string
}

func (r *remover) remove(in directory, name string, depth int) error {
	err := in.unlink(name, 0)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if !errors.Is(err, syscall.EISDIR) && !errors.Is(err, syscall.EPERM) {
		return err
	}
	if depth > maxHeld {
		return r.postpone(in, name)
	}
	if err := r.empty(in, name, depth); err != nil {
		return err
	}
	err = in.unlink(name, unix.AT_REMOVEDIR)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (r *remover) postpone(in directory, name string) error {
	moved := r.temporary()
	if err := in.rename(name, r.top, moved, 0); err != nil {
		return err
	}
	r.later = append(r.later, moved)
	return nil
}

// empty removes what is in a directory, some names at a time and each time from
// the beginning, since the names move up as others go.
func (r *remover) empty(in directory, name string, depth int) error {
	f, err := in.list(name)
	if err != nil {
		return err
	}
	defer f.Close()
	for {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
		names, err := f.Readdirnames(entriesAtOnce)
		for _, below := range names {
			if err := r.remove(directory{fd: int(f.Fd())}, below, depth+1); err != nil {
				return err
			}
		}
		if len(names) == 0 {
			return ignoreEOF(err)
		}
	}
}
