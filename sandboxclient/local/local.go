// Package local is the driver for sandboxes on this host: each is an OCI bundle
// run by an OCI runtime binary, gVisor's runsc or runc. Isolation is the
// runtime's; this package says what it shall isolate, and tidies up.
//
// sandboxd inside a sandbox dials out to a Unix socket that the driver listens
// on (see package wire); the sandbox has no network. Sandboxes outlive the
// driver: a new one on the same state directory lists, dials and destroys what
// an earlier one made.
package local

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"sandgate/sandboxclient"
)

// A Driver makes sandboxes on this host. New is the only way to get one.
type Driver struct {
	layout   layout
	engine   *engine
	disks    *disks
	sandboxd string // path on the host
	root     string // of every sandbox, read-only
	hostUsr  bool   // the system inside is the host's /usr
	log      *slog.Logger

	checkpoints *checkpoints
	templates   *templates

	mu        sync.Mutex
	sandboxes map[sandboxclient.ID]*sandbox // that this driver has made or dialled
}

var (
	_ sandboxclient.Driver   = (*Driver)(nil)
	_ sandboxclient.Egresser = (*Driver)(nil)
)

// New checks the configuration and prepares the state directory. The caller
// sees to it that nobody else works on the same one, and calls Close.
func New(ctx context.Context, cfg Config) (*Driver, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	k, err := detectKind(ctx, cfg.Runtime)
	if err != nil {
		return nil, err
	}
	if err := checkKernel(k); err != nil {
		return nil, err
	}
	l := layout{filepath.Clean(cfg.StateDir)}
	d := &Driver{
		layout:   l,
		engine:   newEngine(k, cfg.Runtime, l.runtimeRoot(k)),
		sandboxd: cfg.Sandboxd,
		root:     cfg.Rootfs,
		hostUsr:  cfg.Rootfs == "",
		log:      cfg.Logger,

		checkpoints: newCheckpoints(l, cfg.CheckpointBytes),
		templates:   newTemplates(l.templates()),
		sandboxes:   map[sandboxclient.ID]*sandbox{},
	}
	if d.hostUsr {
		d.root = l.rootfs()
	}
	if d.log == nil {
		d.log = slog.Default()
	}
	d.disks = newDisks(l, d.log)
	if err := d.prepare(ctx); err != nil {
		return nil, fmt.Errorf("local driver: prepare %s: %w", l.state, err)
	}
	d.checkpoints.settleLeft()
	return d, nil
}

// prepare makes the directories and what all sandboxes share.
func (d *Driver) prepare(ctx context.Context) error {
	if err := os.MkdirAll(d.layout.state, 0o700); err != nil {
		return err
	}
	for _, dir := range []string{d.layout.sandboxes(), d.layout.templates(), d.layout.shared(), d.layout.run(), d.engine.Root} {
		if err := makeDir(dir, 0o700); err != nil {
			return err
		}
	}
	if err := d.disks.sweep(ctx); err != nil {
		return err
	}
	if err := d.finishHibernations(ctx, undoTimeout); err != nil {
		return err
	}
	if err := d.templates.sweep(); err != nil {
		return err
	}
	for _, dir := range []string{d.layout.rootfs(), d.layout.etc()} {
		if err := makeDir(dir, 0o755); err != nil {
			return err
		}
	}
	if err := makeEtc(d.layout.etc()); err != nil {
		return err
	}
	if d.hostUsr {
		return makeRootfs(d.root)
	}
	return makeMountPoints(d.root)
}

// Close ends the links. Sandboxes go on running, for the next driver.
func (d *Driver) Close() error {
	d.checkpoints.close(closeTime)
	d.mu.Lock()
	defer d.mu.Unlock()
	for id, s := range d.sandboxes {
		s.release()
		delete(d.sandboxes, id)
	}
	return d.unmountNetns()
}

// unmountNetns removes the empty network namespace that runsc pins below its
// root for all its sandboxes; those that run keep it without the mount. Several
// that started at once have pinned one over the other.
func (d *Driver) unmountNetns() error {
	pin := filepath.Join(d.layout.runtimeRoot(kindRunsc), "null-netns")
	for {
		err := unix.Unmount(pin, unix.MNT_DETACH)
		switch {
		case errors.Is(err, unix.ENOENT):
			return nil
		case errors.Is(err, unix.EINVAL): // no longer a mount
			return os.Remove(pin)
		case err != nil:
			return fmt.Errorf("unmount %s: %w", pin, err)
		}
	}
}

// List names every sandbox whose bundle is there, and what the runtime believes
// to exist besides.
func (d *Driver) List(ctx context.Context) ([]sandboxclient.ID, error) {
	known := d.known(ctx) // before the bundles, which are made first
	ids, found, err := d.bundled()
	if err != nil {
		return nil, fmt.Errorf("list sandboxes: %w", err)
	}
	for _, name := range known {
		if id := sandboxclient.ID(name); id.Valid() && !found[name] {
			found[name] = true
			ids = append(ids, id)
		}
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("list sandboxes: %w", context.Cause(ctx))
	}
	return ids, nil
}

// bundled names the sandboxes whose bundle is there, and their instances. None
// is assigned meanwhile.
func (d *Driver) bundled() ([]sandboxclient.ID, map[instance]bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	entries, err := os.ReadDir(d.layout.sandboxes())
	if err != nil {
		return nil, nil, err
	}
	var ids []sandboxclient.ID
	found := map[instance]bool{}
	for _, e := range entries {
		id := sandboxclient.ID(e.Name())
		if _, err := os.Lstat(d.layout.bundle(id)); err == nil && id.Valid() {
			ids = append(ids, id)
			found[d.layout.instanceOf(id)] = true
		}
	}
	return ids, found, nil
}

// known is what the runtime believes to exist. When it cannot tell, the bundles
// must do: they are made before a sandbox and removed after it.
func (d *Driver) known(ctx context.Context) []instance {
	names, err := d.engine.list(ctx)
	if err != nil && ctx.Err() == nil {
		d.log.WarnContext(ctx, "the runtime cannot list its sandboxes", "err", err)
	}
	return names
}
