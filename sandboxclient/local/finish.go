package local

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"sandgate/sandboxclient"
)

// finishHibernations brings to an end what a gateway was killed in the middle
// of, each within a bound, and counts what is asleep. What beside a memory cannot
// be ended now is left to its wake. A memory that is still being written is waited
// for as long as it grows.
func (d *Driver) finishHibernations(ctx context.Context, bound time.Duration) error {
	falling, _ := filepath.Glob(filepath.Join(d.layout.checkpoint("*"), pendingName)) // fails for malformed patterns only
	d.finish(ctx, longestWrite, owners(folders(falling)), func(ctx context.Context, id sandboxclient.ID) error {
		return d.finishSleep(ctx, bound, id)
	})
	waking, _ := filepath.Glob(d.layout.waking("*")) // the same
	d.finish(ctx, bound, owners(waking), d.clearWake)
	aside, _ := filepath.Glob(d.layout.sandbox("*") + "/checkpoint.*") // the same
	for _, dir := range aside {
		if filepath.Ext(dir) == wakingExt {
			continue
		}
		if err := os.RemoveAll(dir); err != nil {
			d.log.ErrorContext(ctx, "a checkpoint that is of no use is not removed", "dir", dir, "error", err)
		}
	}
	if err := d.checkpoints.find(); err != nil {
		return err
	}
	bundles, _ := filepath.Glob(d.layout.bundle("*"))
	d.finish(ctx, bound, owners(bundles), d.stopAsleep)
	return context.Cause(ctx)
}

// owners names the sandboxes whose directories these are in.
func owners(dirs []string) []sandboxclient.ID {
	ids := make([]sandboxclient.ID, 0, len(dirs))
	for _, dir := range dirs {
		ids = append(ids, sandboxclient.ID(filepath.Base(filepath.Dir(dir))))
	}
	return ids
}

// folders names the directories that files are in.
func folders(files []string) []string {
	dirs := make([]string, 0, len(files))
	for _, file := range files {
		dirs = append(dirs, filepath.Dir(file))
	}
	return dirs
}

// finish does something for what is left of sandboxes, some at the same time. One
// that is stuck holds up neither the others nor the gateway.
func (d *Driver) finish(ctx context.Context, bound time.Duration, ids []sandboxclient.ID, do func(context.Context, sandboxclient.ID) error) {
	const atOnce = 8
	var group errgroup.Group
	group.SetLimit(atOnce)
	for _, id := range ids {
		group.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, bound)
			defer cancel()
			if err := do(ctx, id); err != nil {
				d.log.ErrorContext(ctx, "what an earlier gateway left of a sandbox cannot be ended now", "sandbox", id, "error", err)
			}
			return nil
		})
	}
	_ = group.Wait()
}

// finishSleep brings a falling asleep to an end that a gateway was killed in. The
// runtime goes on with it, and is waited for as long as it writes. A sandbox that
// still runs, because the runtime had not begun or was refused, goes on.
func (d *Driver) finishSleep(ctx context.Context, patience time.Duration, id sandboxclient.ID) error {
	dir := d.layout.checkpoint(id)
	mark, err := awaitMark(ctx, dir, patience)
	if errors.Is(ctx.Err(), context.Canceled) {
		return context.Cause(ctx) // for the next gateway
	}
	if err == nil && !mark.whole && d.runsOn(ctx, id, mark.begun()) {
		return d.removeCheckpoint(id)
	}
	if err == nil && mark.whole {
		if err = complete(dir); err == nil {
			return nil
		}
	}
	if errors.Is(err, errNotWritten) {
		mark.end()
	}
	stuck := d.stopLeft(ctx, id)
	d.noteLoss(id, fellAsleep(dir))
	return errors.Join(err, stuck)
}

// fellAsleep is why a memory is lost that was not written whole.
func fellAsleep(dir string) string {
	var m manifest
	if err := readJSON(filepath.Join(dir, pendingName), &m); err == nil && m.Boot != bootID() {
		return "the machine stopped while the sandbox fell asleep"
	}
	return "the gateway was killed while the sandbox fell asleep"
}

// runsOn says whether the first process of a sandbox runs, and goes on to where
// the runtime has begun: what that could not write ends a little later.
func (d *Driver) runsOn(ctx context.Context, id sandboxclient.ID, begun bool) bool {
	const lastBreath = 2 * time.Second
	record, err := readRecord(d.layout.bundle(id))
	if err != nil {
		return !lastWord(err)
	}
	pidfd, err := record.open()
	if err != nil {
		return !errors.Is(err, os.ErrProcessDone)
	}
	defer pidfd.Close()
	if !begun {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, lastBreath)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = pidfd.Close() })
	defer stop()
	return awaitExit(pidfd) != nil
}

// clearWake finishes a wake, and removes the memory that it used up.
func (d *Driver) clearWake(ctx context.Context, id sandboxclient.ID) error {
	if err := d.finishWake(ctx, id); err != nil {
		return err
	}
	return os.RemoveAll(d.layout.waking(id))
}

// stopAsleep ends what is left beside a memory that is whole.
func (d *Driver) stopAsleep(ctx context.Context, id sandboxclient.ID) error {
	if !d.checkpoints.counted(id) {
		return nil
	}
	return d.stop(ctx, id, sandboxclient.KeepWorkspace)
}

// finishWake brings a wake to an end that a gateway was killed in. A sandbox that
// has a record woke. One without a pid file has never run, and sleeps on; of any
// other nobody knows.
func (d *Driver) finishWake(ctx context.Context, id sandboxclient.ID) error {
	if cut, err := d.cutShort(id); err != nil || !cut {
		return err
	}
	if err := d.stopInstance(ctx, id); err != nil { // the runtime may be at work still
		return err
	}
	ran, err := exists(filepath.Join(d.layout.bundle(id), pidName))
	if err != nil {
		return err
	}
	if ran {
		d.noteLoss(id, "the gateway was killed while the sandbox woke")
	} else if err := os.Rename(d.layout.waking(id), d.layout.checkpoint(id)); err != nil {
		return err
	}
	return d.stop(ctx, id, sandboxclient.KeepWorkspace)
}

// cutShort says whether a sandbox woke when its gateway was killed, and what came
// of it is not known yet.
func (d *Driver) cutShort(id sandboxclient.ID) (bool, error) {
	bundle := d.layout.bundle(id)
	for _, path := range []string{d.layout.waking(id), bundle} {
		if there, err := exists(path); err != nil || !there {
			return false, err
		}
	}
	woke, err := exists(filepath.Join(bundle, recordName))
	return !woke, err
}
