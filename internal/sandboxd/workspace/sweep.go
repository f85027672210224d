package workspace

import (
	"context"
	"io/fs"
	"os"
	"strings"
)

// maxSweepDepth bounds the directories that a sweep holds open.
const maxSweepDepth = 64

// sweep removes what an earlier sandboxd left unfinished. It looks at names
// only, and its own writes are not in its way.
func (w *Workspace) sweep(ctx context.Context) {
	if err := w.sweepDir(ctx, w.root, 0); err != nil && ctx.Err() == nil {
		w.log.Warn("sweep of the workspace ended early", "error", errno(err))
	}
}

func (w *Workspace) sweepDir(ctx context.Context, dir *os.Root, depth int) error {
	f, err := dir.Open(".")
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
			w.sweepEntry(ctx, dir, entry, depth)
		}
		if err != nil || len(entries) == 0 {
			return ignoreEOF(err)
		}
	}
}

// sweepEntry goes on when one entry cannot be removed or looked into: it may
// be gone already.
func (w *Workspace) sweepEntry(ctx context.Context, dir *os.Root, entry fs.DirEntry, depth int) {
	name := entry.Name()
	if strings.HasPrefix(name, Temporary) {
		if !strings.HasPrefix(name, Temporary+w.boot) {
			_ = dir.RemoveAll(name)
		}
		return
	}
	if !entry.IsDir() || depth >= maxSweepDepth {
		return
	}
	sub, err := openDir(dir, name)
	if err != nil {
		return
	}
	defer sub.Close()
	_ = w.sweepDir(ctx, sub, depth+1)
}
