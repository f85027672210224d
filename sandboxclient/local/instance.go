package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"sandgate/sandboxclient"
)

var _ sandboxclient.Assigner = (*Driver)(nil)

// An instance is the name under which the runtime, the cgroups and the link know
// a sandbox: its id, unless it was started under another and assigned later.
type instance string

const instanceName = "instance" // in a bundle

// instanceOf gives the instance of a sandbox.
func (l layout) instanceOf(id sandboxclient.ID) instance {
	text, err := os.ReadFile(filepath.Join(l.bundle(id), instanceName))
	if name := strings.TrimSpace(string(text)); err == nil && sandboxclient.ID(name).Valid() {
		return instance(name)
	}
	return instance(id)
}

// Assign gives a running sandbox, workspace and all, to an id that has nothing
// yet; sandboxclient.ErrExists when it has.
func (d *Driver) Assign(_ context.Context, from, to sandboxclient.ID) error {
	if !from.Valid() || !to.Valid() {
		return fmt.Errorf("assign sandbox %.40q to %.40q: malformed id", from, to)
	}
	if err := d.assign(from, to); err != nil {
		return fmt.Errorf("assign sandbox %s to %s: %w", from, to, err)
	}
	return nil
}

func (d *Driver) assign(from, to sandboxclient.ID) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	name := filepath.Join(d.layout.bundle(from), instanceName)
	if err := os.WriteFile(name, []byte(d.layout.instanceOf(from)), 0o600); err != nil {
		return err
	}
	err := unix.Renameat2(unix.AT_FDCWD, d.layout.sandbox(from), unix.AT_FDCWD, d.layout.sandbox(to), unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EEXIST) {
		return sandboxclient.ErrExists
	}
	if err != nil {
		return err
	}
	if s, ok := d.sandboxes[from]; ok {
		d.sandboxes[to] = s
		delete(d.sandboxes, from)
	}
	return nil
}

// passedOn says whether what was started under an id was assigned to another.
func (d *Driver) passedOn(id sandboxclient.ID) (bool, error) {
	if there, err := exists(d.layout.bundle(id)); err != nil || there {
		return false, err
	}
	if there, err := exists(d.layout.link(instance(id))); err != nil || !there {
		return false, err
	}
	_, found, err := d.bundled() // a look at them all, which only this rare case takes
	return found[instance(id)], err
}
