package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"sandgate/sandboxclient"
)

// undoTimeout bounds the tidying up after what failed.
const undoTimeout = 30 * time.Second

// Create starts a sandbox.
func (d *Driver) Create(ctx context.Context, spec sandboxclient.Spec) error {
	if !spec.ID.Valid() {
		return fmt.Errorf("create sandbox: malformed id %.40q", spec.ID)
	}
	if err := checkLimits(spec.Limits); err != nil {
		return fmt.Errorf("create sandbox %s: %w", spec.ID, err)
	}
	if err := d.claim(spec.ID); err != nil {
		return fmt.Errorf("create sandbox %s: %w", spec.ID, err)
	}
	if err := d.begin(ctx, spec); err != nil {
		if errors.Is(err, unix.ENOSPC) {
			err = sandboxclient.DiskFull(err)
		}
		return fmt.Errorf("create sandbox %s: %w", spec.ID, errors.Join(err, d.undo(ctx, spec.ID)))
	}
	return nil
}

// begin starts a sandbox from its template, or with an empty memory. What it may
// have left to go on from is older than what it does now, and goes. A template
// that does not do, where an empty memory does, is given up.
func (d *Driver) begin(ctx context.Context, spec sandboxclient.Spec) error {
	if err := d.forgetMemory(spec.ID); err != nil {
		return err
	}
	t := d.templates.find(d, spec)
	if t == nil {
		return d.start(ctx, spec, d.engine.run)
	}
	err := d.start(ctx, spec, d.engine.restorer(t.dir))
	if err == nil || ctx.Err() != nil || errors.Is(err, unix.ENOSPC) {
		return err
	}
	d.log.WarnContext(ctx, "a sandbox does not start from its template", "sandbox", spec.ID, "error", err)
	if err := d.stop(ctx, spec.ID, sandboxclient.KeepWorkspace); err != nil {
		return err
	}
	if err := d.claim(spec.ID); err != nil {
		return err
	}
	if err := d.start(ctx, spec, d.engine.run); err != nil {
		return err
	}
	if _, ok := errors.AsType[*launchError](err); ok {
		d.log.WarnContext(ctx, "a template is given up", "why", "it does not start", "sandbox", spec.ID)
		d.templates.drop(t)
	}
	return nil
}

// checkLimits refuses what would mean "none" to a runtime.
func checkLimits(l sandboxclient.Limits) error {
	if l.MemoryBytes <= 0 || l.CPUs <= 0 || l.Processes <= 0 || l.OpenFiles <= 0 || l.TmpBytes <= 0 {
		return fmt.Errorf("every limit must be above zero: %+v", l)
	}
	if l.WorkspaceBytes != 0 && l.WorkspaceBytes < minImage {
		return fmt.Errorf("a workspace of %d bytes is too small: at least %d", l.WorkspaceBytes, minImage)
	}
	return nil
}

// claim makes the bundle directory: of several callers one gets it.
func (d *Driver) claim(id sandboxclient.ID) error {
	if err := os.MkdirAll(d.layout.sandbox(id), 0o700); err != nil {
		return err
	}
	err := os.Mkdir(d.layout.bundle(id), 0o700)
	if errors.Is(err, os.ErrExist) {
		return sandboxclient.ErrExists
	}
	return err
}

// A launcher has the runtime start a sandbox from its bundle.
type launcher = func(ctx context.Context, name instance, bundle string) error

// A launchError is the failure of a launcher.
type launchError struct {
	kind kind
	err  error
}

func (e *launchError) Error() string { return fmt.Sprintf("%s: %v", e.kind, e.err) }
func (e *launchError) Unwrap() error { return e.err }

// start does what can fail half-way. The link's directory comes before the
// runtime, since it is mounted; the link itself after it, as sandboxd tries until
// somebody listens.
func (d *Driver) start(ctx context.Context, spec sandboxclient.Spec, launch launcher) error {
	if err := d.disks.open(ctx, spec.ID, spec.Limits.WorkspaceBytes); err != nil {
		return fmt.Errorf("make workspace: %w", err)
	}
	if err := makeLinkDir(d.layout.link(instance(spec.ID))); err != nil {
		return fmt.Errorf("make link: %w", err)
	}
	bundle := d.layout.bundle(spec.ID)
	if err := d.writeSpec(spec, bundle); err != nil {
		return fmt.Errorf("write bundle: %w", err)
	}
	if err := launch(ctx, instance(spec.ID), bundle); err != nil {
		return &launchError{d.engine.kind, err}
	}
	if err := d.limit(spec); err != nil {
		return err
	}
	if err := recordProcess(bundle); err != nil {
		return fmt.Errorf("record process: %w", err)
	}
	if _, err := d.take(spec.ID); err != nil {
		return fmt.Errorf("open link: %w", err)
	}
	return nil
}

// limit sets what a runtime does not.
func (d *Driver) limit(spec sandboxclient.Spec) error {
	name, memory := instance(spec.ID), spec.Limits.MemoryBytes
	if d.engine.kind == kindRunsc {
		if err := leaveHeadroom(name, memory); err != nil {
			return fmt.Errorf("leave headroom of memory: %w", err)
		}
		return nil
	}
	if err := limitSockets(name, memory); err != nil {
		return fmt.Errorf("limit sockets: %w", err)
	}
	return nil
}

func (d *Driver) writeSpec(spec sandboxclient.Spec, bundle string) error {
	oci, err := d.spec(spec)
	if err != nil {
		return err
	}
	data, err := json.Marshal(oci)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(bundle, specName), data, 0o600)
}

// undo leaves nothing of a failed Create but the workspace. The caller's context
// may be what ended, so this has a deadline of its own.
func (d *Driver) undo(ctx context.Context, id sandboxclient.ID) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer cancel()
	return d.Destroy(ctx, id, sandboxclient.KeepWorkspace)
}
