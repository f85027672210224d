package local

import (
	"context"
	"errors"
	"fmt"
	"os"

	"sandgate/sandboxclient"
)

// Destroy ends a sandbox. What fails is tried again by the next Destroy: the
// bundle, by which the sandbox is listed, goes last.
func (d *Driver) Destroy(ctx context.Context, id sandboxclient.ID, workspace sandboxclient.Workspace) error {
	if !id.Valid() {
		return nil // there is none
	}
	if err := d.destroy(ctx, id, workspace); err != nil {
		return fmt.Errorf("destroy sandbox %s: %w", id, err)
	}
	return nil
}

func (d *Driver) destroy(ctx context.Context, id sandboxclient.ID, workspace sandboxclient.Workspace) error {
	d.forget(id)
	if err := d.end(ctx, id); err != nil {
		return err
	}
	if err := os.RemoveAll(d.layout.link(id)); err != nil {
		return err
	}
	if workspace == sandboxclient.RemoveWorkspace {
		if err := removeTree(ctx, d.layout.workspace(id)); err != nil {
			return fmt.Errorf("remove workspace: %w", err)
		}
	}
	if err := os.RemoveAll(d.layout.bundle(id)); err != nil {
		return err
	}
	if workspace == sandboxclient.KeepWorkspace {
		return nil
	}
	if err := os.Remove(d.layout.sandbox(id)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// forget drops what the driver holds of the sandbox; who waits in Dial is told.
func (d *Driver) forget(id sandboxclient.ID) {
	d.mu.Lock()
	s := d.sandboxes[id]
	delete(d.sandboxes, id)
	d.mu.Unlock()
	if s != nil {
		s.release()
	}
}

// end ends every process of the sandbox. The runtime does it when its state is
// in order; when it is not, the process record and the cgroup still say what to
// kill, and then there is nothing left that the state was about.
func (d *Driver) end(ctx context.Context, id sandboxclient.ID) error {
	deleteErr := d.engine.delete(ctx, id)
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if err := d.kill(ctx, id); err != nil {
		return errors.Join(deleteErr, err)
	}
	if deleteErr == nil {
		return nil
	}
	d.log.WarnContext(ctx, "the runtime could not delete a sandbox: its processes were killed", "sandbox", id, "err", deleteErr)
	if err := d.engine.forget(id); err != nil {
		return errors.Join(deleteErr, err)
	}
	return d.engine.delete(ctx, id)
}

// kill makes sure that no process is left, whatever the runtime says.
func (d *Driver) kill(ctx context.Context, id sandboxclient.ID) error {
	if record, err := readRecord(d.layout.bundle(id)); err == nil {
		if err := record.kill(ctx); err != nil {
			return err
		}
	}
	return clearCgroups(ctx, id)
}
