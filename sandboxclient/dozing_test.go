package sandboxclient

import (
	"context"
	"errors"
	"time"
)

// dozing is an engine whose sandboxes can sleep.
type dozing struct {
	*engine
	dreams    map[ID]dream
	refuse    bool          // to let anything sleep
	refusals  int           // to let something sleep
	writing   time.Duration // how long a memory takes to be written
	reading   time.Duration // how long it takes to be read
	forgetful string        // why what sleeps cannot be woken
	stuck     bool          // nothing can be woken at the moment
	loses     bool          // what is on its way to sleep
	usage     int64         // of memory, of each that runs
	looks     int           // at how much that is
	assigned  int           // by Assign
	cold      bool          // there is no template yet
}

// A dream is what is left of a sandbox that sleeps.
type dream struct {
	note    []byte
	bytes   int64
	started bool
	value   int32
}

var (
	_ Hibernator = (*dozing)(nil)
	_ Gauge      = (*dozing)(nil)
	_ Templater  = (*dozing)(nil)
	_ Assigner   = (*dozing)(nil)
)

func newDozing() *dozing {
	e := newEngine()
	e.bootTime = 100 * time.Millisecond
	return &dozing{engine: e, dreams: make(map[ID]dream)}
}

func (d *dozing) CanHibernate() bool { return true }

func (d *dozing) Hibernate(_ context.Context, id ID, note []byte) error {
	time.Sleep(d.writing)
	d.mu.Lock()
	defer d.mu.Unlock()
	b := d.boxes[id]
	switch {
	case d.refuse:
		d.refusals++
		return ErrAwake
	case b == nil:
		return errors.New("it is not there")
	}
	delete(d.boxes, id)
	if !b.alive() {
		return errors.New("it is dead")
	}
	b.kill()
	if d.loses {
		return errors.New("no disk")
	}
	d.dreams[id] = dream{note, d.usage, b.started.Load(), b.value.Load()}
	return nil
}

func (d *dozing) Wake(_ context.Context, spec Spec) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	dreamt, ok := d.dreams[spec.ID]
	switch {
	case !ok:
		return ErrNotAsleep
	case d.boxes[spec.ID] != nil:
		return ErrExists
	case d.stuck:
		return errors.New("too many open files")
	}
	delete(d.dreams, spec.ID)
	if d.forgetful != "" {
		return &LostError{Why: d.forgetful}
	}
	d.mu.Unlock()
	time.Sleep(d.reading)
	d.mu.Lock()
	b := d.boot(spec)
	b.started.Store(dreamt.started)
	b.value.Store(dreamt.value)
	return nil
}

// box gives a sandbox that runs.
func (d *dozing) box(id ID) *engineBox {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.boxes[id]
}

// stray starts a sandbox that no client knows of.
func (d *dozing) stray(id ID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.boot(Spec{ID: id})
}

// sleepers counts what sleeps.
func (d *dozing) sleepers() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.dreams)
}

// wasRemoved says whether a workspace was.
func (d *dozing) wasRemoved(id ID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.removed[id]
}

// die ends a sandbox behind everybody's back.
func (d *dozing) die(id ID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.boxes[id].kill()
}

func (b *engineBox) alive() bool {
	select {
	case <-b.gone:
		return false
	default:
		return true
	}
}

func (d *dozing) Asleep(id ID) (Checkpoint, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	dreamt, ok := d.dreams[id]
	if !ok {
		return Checkpoint{}, ErrNotAsleep
	}
	return Checkpoint{Bytes: dreamt.bytes, Note: dreamt.note}, nil
}

func (d *dozing) Destroy(ctx context.Context, id ID, workspace Workspace) error {
	d.mu.Lock()
	delete(d.dreams, id)
	d.mu.Unlock()
	return d.engine.Destroy(ctx, id, workspace)
}

func (d *dozing) Usage(id ID) Usage {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.looks++
	if d.boxes[id] == nil {
		return Usage{}
	}
	return Usage{MemoryBytes: d.usage}
}

// gauged is how often was looked how much memory a sandbox takes.
func (d *dozing) gauged() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.looks
}

func (d *dozing) HasTemplate(Spec) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.cold
}

func (d *dozing) MakeTemplate(_ context.Context, spec Spec) error {
	time.Sleep(d.writing)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.boxes[spec.ID].kill()
	d.cold = false
	return nil
}

func (d *dozing) DropTemplate(Spec) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cold, d.mute = true, false
}

// Assign gives a box another id.
func (d *dozing) Assign(_ context.Context, from, to ID) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	b := d.boxes[from]
	switch {
	case b == nil || !b.alive():
		return errors.New("it is gone")
	case d.boxes[to] != nil || d.dreams[to].started:
		return ErrExists
	}
	delete(d.boxes, from)
	d.boxes[to] = b
	d.assigned++
	return nil
}
