package workspace

import (
	"context"
	"io/fs"
	"strings"
)

// Sweep begins to sweep aside what an earlier sandboxd left unfinished, until ctx
// ends. What restores need of that must have been taken before. It is done again when the directory is another one, in a sandbox that was
// restored from another's checkpoint: others with this memory may have been here.
func (w *Workspace) Sweep(ctx context.Context) error {
	root, err := openTree(w.dir) // its own, as the workspace may be closed meanwhile
	if err != nil {
		return err
	}
	w.boot.Store(new(Temporary + randomName()))
	go func() {
		defer root.Close()
		w.sweep(ctx, root)
	}()
	return nil
}

// sweep removes what an earlier sandboxd left unfinished. It looks at names
// only, and its own writes are not in its way.
func (w *Workspace) sweep(ctx context.Context, root directory) {
	if err := w.sweepDir(ctx, root, ".", 0); err != nil && ctx.Err() == nil {
		w.log.Warn("sweep of the workspace ended early", "error", errno(err))
	}
}

func (w *Workspace) sweepDir(ctx context.Context, in directory, name string, depth int) error {
	f, err := in.list(name)
	if err != nil {
		return err
	}
	defer f.Close()
	for {
		entries, err := f.ReadDir(entriesAtOnce)
		for _, entry := range entries {
			if err := ctx.Err(); err != nil {
				return err
			}
			w.sweepEntry(ctx, directory{fd: int(f.Fd())}, entry, depth)
		}
		if err != nil || len(entries) == 0 {
			return ignoreEOF(err)
		}
	}
}

// sweepEntry goes on when one entry cannot be removed or looked into: it may
// be gone already. What lies very deep is not looked for.
func (w *Workspace) sweepEntry(ctx context.Context, in directory, entry fs.DirEntry, depth int) {
	name := entry.Name()
	switch {
	case strings.HasPrefix(name, *w.boot.Load()):
	case strings.HasPrefix(name, Temporary):
		_ = w.removeTree(ctx, in, name)
	case entry.IsDir() && depth < maxHeld:
		_ = w.sweepDir(ctx, in, name, depth+1)
	}
}
