package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	specs "github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"

	"sandgate/sandboxclient"
)

var _ sandboxclient.Hibernator = (*Driver)(nil)

// CanHibernate implements sandboxclient.Hibernator: gVisor can.
func (d *Driver) CanHibernate() bool { return d.engine.kind == kindRunsc }

// Hibernate puts a sandbox to disk with its processes. What goes wrong after it
// has begun is noted in place of the checkpoint, for Wake to tell.
func (d *Driver) Hibernate(ctx context.Context, id sandboxclient.ID, note []byte) error {
	dir := d.layout.checkpoint(id)
	name := d.layout.instanceOf(id)
	compress, release, err := d.checkpoints.admit(ctx, func() int64 { return memoryUsed(name) })
	if err != nil {
		return fmt.Errorf("hibernate sandbox %s: %w: %w", id, sandboxclient.ErrAwake, err)
	}
	defer release()
	m, files, err := d.survey(id)
	if err == nil {
		err = d.clearCheckpoint(id)
	}
	var mark *os.File
	if err == nil {
		m.Note = note
		mark, err = prepare(dir, m, files)
	}
	if err != nil {
		return fmt.Errorf("hibernate sandbox %s: %w: %w", id, sandboxclient.ErrAwake, err)
	}
	defer mark.Close()
	if err := d.freeze(ctx, id, dir, mark, compress); err != nil {
		return fmt.Errorf("hibernate sandbox %s: %w", id, err)
	}
	d.checkpoints.add(id, d.noteLoss)
	return nil
}

// survey says what a checkpoint made now would depend on.
func (d *Driver) survey(id sandboxclient.ID) (manifest, []hostFile, error) {
	bundle := d.layout.bundle(id)
	record, err := readRecord(bundle)
	if err != nil {
		return manifest{}, nil, err
	}
	oci, err := readSpec(bundle)
	if err != nil {
		return manifest{}, nil, err
	}
	files, err := heldFiles(record.pid, oci)
	if err != nil {
		return manifest{}, nil, err
	}
	form, err := shape(oci)
	if err != nil {
		return manifest{}, nil, err
	}
	machine, err := d.machine()
	return manifest{Made: time.Now().UTC(), Machine: machine, Spec: form, Boot: bootID()}, files, err
}

func readSpec(bundle string) (*specs.Spec, error) {
	oci := new(specs.Spec)
	data, err := os.ReadFile(filepath.Join(bundle, specName))
	if err != nil {
		return nil, err
	}
	return oci, json.Unmarshal(data, oci)
}

// remake gives an empty directory of root's own.
func remake(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return makeDir(dir, 0o700)
}

// clearCheckpoint gives a sandbox's checkpoint an empty directory.
func (d *Driver) clearCheckpoint(id sandboxclient.ID) error {
	if err := d.removeCheckpoint(id); err != nil {
		return err
	}
	return makeDir(d.layout.checkpoint(id), 0o700)
}

// removeCheckpoint removes what there is of a checkpoint.
func (d *Driver) removeCheckpoint(id sandboxclient.ID) error {
	return d.discard(id, d.layout.checkpoint(id))
}

// discard removes a checkpoint's directory. It is moved aside first, where
// neither settle nor the next gateway takes it for one.
func (d *Driver) discard(id sandboxclient.ID, dir string) error {
	aside := d.layout.aside(id)
	err := os.Rename(dir, aside)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.RemoveAll(aside)
}

// freeze writes the checkpoint and stops what is left of the sandbox, in this
// order: when the gateway is killed, the next one finds the one or the other, or
// the runtime at work on it.
func (d *Driver) freeze(ctx context.Context, id sandboxclient.ID, dir string, mark *os.File, compress bool) error {
	err := d.write(ctx, id, dir, mark, compress)
	if err != nil {
		stuck := d.stopLeft(ctx, id)
		d.noteLoss(id, lossOf(err)) // not before: on a full disk it may need what the runtime had written
		return errors.Join(err, stuck)
	}
	if err := d.stopLeft(ctx, id); err != nil { // Wake tries again
		d.log.WarnContext(ctx, "a sandbox sleeps, and not all that is left of it was ended", "sandbox", id, "error", err)
	}
	return nil
}

// stopLeft is stop with a deadline of its own: the caller's context may be what
// ended.
func (d *Driver) stopLeft(ctx context.Context, id sandboxclient.ID) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer cancel()
	return d.stop(ctx, id, sandboxclient.KeepWorkspace)
}

// write writes the memory of a sandbox to a directory that was prepared, which is
// the end of its processes.
func (d *Driver) write(ctx context.Context, id sandboxclient.ID, dir string, mark *os.File, compress bool) error {
	// runsc does not know what to do with a socket that is open on both sides.
	d.forget(id)
	name := d.layout.instanceOf(id)
	if err := removeFile(socketPath(d.layout.link(name))); err != nil {
		return err
	}
	if err := d.engine.checkpoint(ctx, name, d.layout.bundle(id), dir, mark, compress); err != nil {
		return err
	}
	return complete(dir)
}

// lossOf is what a failed hibernation is to the user.
func lossOf(err error) string {
	if errors.Is(err, unix.ENOSPC) {
		return "the disk of this gateway was full when the sandbox was to sleep"
	}
	return "the sandbox could not be put to sleep, and was ended"
}

// noteLoss puts a reason in the place of a checkpoint.
func (d *Driver) noteLoss(id sandboxclient.ID, why string) {
	dir := d.layout.checkpoint(id)
	err := d.clearCheckpoint(id)
	if err == nil {
		err = writeJSON(filepath.Join(dir, manifestName), manifest{Made: time.Now().UTC(), Lost: why})
	}
	if err != nil {
		d.log.Warn("why a sandbox's memory is lost was not noted", "sandbox", id, "why", why, "error", err)
	}
}

// Wake lets a hibernated sandbox go on. Its checkpoint is used up before anything
// runs: whatever happens then, nobody goes on from it a second time.
func (d *Driver) Wake(ctx context.Context, spec sandboxclient.Spec) error {
	if !spec.ID.Valid() {
		return sandboxclient.ErrNotAsleep
	}
	err := d.finishWake(ctx, spec.ID)
	if err == nil {
		err = d.wakeable(spec)
	}
	if err == nil {
		err = d.thaw(ctx, spec)
	}
	if lost, ok := errors.AsType[*sandboxclient.LostError](err); ok {
		lost.Err = errors.Join(lost.Err, d.undo(ctx, spec.ID))
		return lost
	}
	if errors.Is(err, unix.ENOSPC) {
		err = sandboxclient.DiskFull(err)
	}
	if err != nil {
		return fmt.Errorf("wake sandbox %s: %w", spec.ID, err)
	}
	return nil
}

// wakeable says why a sandbox cannot wake, without a touch.
func (d *Driver) wakeable(spec sandboxclient.Spec) error {
	dir := d.layout.checkpoint(spec.ID)
	m, err := readManifest(dir)
	if lastWord(err) {
		return &sandboxclient.LostError{Why: "what it left on disk cannot be read any more", Err: err}
	}
	if err != nil {
		return err
	}
	form, err := d.shapeOf(spec)
	if err != nil {
		return err
	}
	return d.fit(dir, m, form)
}

// thaw starts a sandbox from its checkpoint, which stays as long as the runtime
// has not begun.
func (d *Driver) thaw(ctx context.Context, spec sandboxclient.Spec) error {
	if err := d.reclaim(ctx, spec.ID); err != nil {
		return err
	}
	waking, used := d.layout.waking(spec.ID), false
	err := d.start(ctx, spec, func(ctx context.Context, name instance, bundle string) error {
		if err := d.checkpoints.use(spec.ID, waking); err != nil {
			return err
		}
		used = true
		return d.engine.restorer(waking)(ctx, name, bundle)
	})
	if !used {
		return errors.Join(err, d.stopLeft(ctx, spec.ID))
	}
	if e := d.discard(spec.ID, waking); e != nil { // the next gateway tries again
		d.log.WarnContext(ctx, "a checkpoint that was used up is not removed", "sandbox", spec.ID, "error", e)
	}
	if err != nil {
		return &sandboxclient.LostError{Why: "its memory could not be brought back", Err: err}
	}
	return nil
}

// reclaim is claim for a sandbox that sleeps: what is there of it is what could
// not be ended when it fell asleep.
func (d *Driver) reclaim(ctx context.Context, id sandboxclient.ID) error {
	err := d.claim(id)
	if !errors.Is(err, sandboxclient.ErrExists) {
		return err
	}
	if err := d.stop(ctx, id, sandboxclient.KeepWorkspace); err != nil {
		return err
	}
	return d.claim(id)
}

// shapeOf is the shape of the bundle that a sandbox would be given now.
func (d *Driver) shapeOf(spec sandboxclient.Spec) (string, error) {
	oci, err := d.spec(spec)
	if err != nil {
		return "", err
	}
	return shape(oci)
}

// Asleep tells of a hibernated sandbox.
func (d *Driver) Asleep(id sandboxclient.ID) (sandboxclient.Checkpoint, error) {
	if !id.Valid() {
		return sandboxclient.Checkpoint{}, sandboxclient.ErrNotAsleep
	}
	m, err := d.manifestOf(id)
	if err == nil && m.Lost != "" {
		err = sandboxclient.ErrNotAsleep
	}
	return sandboxclient.Checkpoint{At: m.Made, Bytes: m.Bytes, Note: m.Note}, err
}

// manifestOf reads the manifest of what a sandbox may go on from.
func (d *Driver) manifestOf(id sandboxclient.ID) (manifest, error) {
	m, err := readManifest(d.layout.checkpoint(id))
	if !errors.Is(err, sandboxclient.ErrNotAsleep) {
		return m, err
	}
	if cut, err := d.cutShort(id); err != nil {
		return manifest{}, err
	} else if !cut {
		return manifest{}, sandboxclient.ErrNotAsleep
	}
	return readManifest(d.layout.waking(id))
}

// forgetMemory removes what a sandbox left on disk to go on from.
func (d *Driver) forgetMemory(id sandboxclient.ID) error {
	d.checkpoints.remove(id)
	return errors.Join(d.discard(id, d.layout.waking(id)), d.removeCheckpoint(id))
}
