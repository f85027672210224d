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
	if err := d.forgetMemory(id); err != nil {
		return err
	}
	d.mourn(ctx, id)
	if err := d.stop(ctx, id, workspace); err != nil {
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

// stop ends everything but what is asleep.
func (d *Driver) stop(ctx context.Context, id sandboxclient.ID, workspace sandboxclient.Workspace) error {
	if err := d.stopInstance(ctx, id); err != nil {
		return err
	}
	if err := d.disks.close(ctx, id, workspace); err != nil {
		return fmt.Errorf("close workspace: %w", err)
	}
	return os.RemoveAll(d.layout.bundle(id))
}

// stopInstance ends what runs for an id, but not what was started under this id
// and is another's now.
func (d *Driver) stopInstance(ctx context.Context, id sandboxclient.ID) error {
	if passedOn, err := d.passedOn(id); err != nil || passedOn {
		return err
	}
	name := d.layout.instanceOf(id)
	if err := d.end(ctx, id, name); err != nil {
		return err
	}
	d.forget(id)
	return os.RemoveAll(d.layout.link(name))
}

// forget drops what the driver holds of a sandbox that has ended.
func (d *Driver) forget(id sandboxclient.ID) {
	d.mu.Lock()
	s := d.sandboxes[id]
	delete(d.sandboxes, id)
	d.mu.Unlock()
	if s != nil {
		s.release()
	}
}

// end ends every process of the sandbox and whatever the runtime keeps of it. The
// processes are killed by what the driver itself knows of them, the record and
// the cgroup: this works when the runtime's state is lost or corrupt, and is
// quicker than asking.
func (d *Driver) end(ctx context.Context, id sandboxclient.ID, name instance) error {
	if err := d.kill(ctx, id, name); err != nil {
		return err
	}
	if err := d.dismiss(ctx, name); err != nil {
		return err
	}
	return d.removeRuntimeState(name)
}

// dismiss has the runtime forget a dead sandbox. Its refusal is no obstacle:
// there is nothing left that its state was about.
func (d *Driver) dismiss(ctx context.Context, name instance) error {
	if len(d.layout.runtimeState(d.engine.kind, name)) == 0 {
		return nil
	}
	err := d.engine.delete(ctx, name)
	if refusal, ok := errors.AsType[*refusalError](err); ok {
		d.log.WarnContext(ctx, "the runtime cannot delete a dead sandbox: removing its state", "sandbox", name, "err", refusal)
		return nil
	}
	return err
}

// removeRuntimeState removes what runtimes leave of a sandbox that has ended:
// the locks of a create that was cancelled, a state that it cannot read, or one
// of the other runtime, which the gateway was started with before.
func (d *Driver) removeRuntimeState(name instance) error {
	for _, k := range []kind{kindRunsc, kindRunc} {
		for _, path := range d.layout.runtimeState(k, name) {
			if err := os.RemoveAll(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// kill ends the sandbox's first process, which takes the others along, and
// whatever is left in its cgroups.
func (d *Driver) kill(ctx context.Context, id sandboxclient.ID, name instance) error {
	if record, err := readRecord(d.layout.bundle(id)); err == nil {
		if err := record.kill(ctx); err != nil {
			return fmt.Errorf("kill process %d: %w", record.pid, err)
		}
	}
	return clearCgroups(ctx, name)
}
