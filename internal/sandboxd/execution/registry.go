package execution

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"sandgate/internal/sandboxd/awake"
	"sandgate/sandboxclient/wire"
)

// Bounds of a registry.
const (
	maxRunning = 64
	maxEnded   = 64
	keepEnded  = 5 * time.Minute
	maxID      = 128

	maxRefused  = 1024
	keepRefused = time.Minute
)

// A Registry holds the executions that run, and some that have ended.
type Registry struct {
	clock  *awake.Clock
	budget *budget
	disk   *disk

	mu      sync.Mutex
	byID    map[string]*Execution
	ended   []*Execution // in the order of their ends
	read    []*Log       // of forgotten ones, which somebody still read when they were
	running int
	closed  bool
	refused map[string]time.Time // ids canceled before they came, and when
}

// Options say where a registry keeps events.
type Options struct {
	Dir    string       // takes what memory has no room for, in unnamed files; empty: nothing does
	Memory int64        // what the sandbox has, of which events take a small part; 0: unknown
	Clock  *awake.Clock // counts the time of executions; nil: the sandbox never sleeps
}

// NewRegistry makes an empty registry.
func NewRegistry(opts Options) *Registry {
	r := &Registry{
		clock:  cmp.Or(opts.Clock, new(awake.Clock)),
		budget: newBudget(opts.Memory), disk: newDisk(opts.Dir),
		byID: make(map[string]*Execution), refused: make(map[string]time.Time),
	}
	if r.disk != nil {
		r.disk.giveWay = r.giveWay
	}
	return r
}

// New begins an execution. Whoever gets it must Complete, Fail or Discard it.
func (r *Registry) New(id, kind string, out wire.Output) (*Execution, error) {
	if !validID(id) {
		return nil, &wire.Error{Code: wire.CodeInvalid, Message: "The execution's id is not valid"}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return nil, &wire.Error{Code: wire.CodeUnavailable, Message: "The sandbox is ending"}
	case r.byID[id] != nil:
		return nil, &wire.Error{Code: wire.CodeConflict, Message: "There is an execution with this id already"}
	case r.isRefused(id):
		return nil, &wire.Error{Code: wire.CodeConflict, Message: "The execution was canceled before it came"}
	case r.running >= maxRunning:
		return nil, &wire.Error{Code: wire.CodeExhausted, Message: "Too many executions run in this sandbox"}
	}
	x := r.make(id, kind, out)
	r.byID[id] = x
	r.running++
	return x, nil
}

func (r *Registry) make(id, kind string, out wire.Output) *Execution {
	if out.Keep <= 0 {
		out.Keep = defaultKeep
	}
	if out.Max <= 0 {
		out.Max = defaultMax
	}
	x := &Execution{
		id: id, kind: kind, created: time.Now().UTC(), clock: r.clock,
		keep: out.Keep, max: out.Max, halves: make(halves),
		log:   newLog(r.budget, r.disk),
		ended: r.end, shed: r.shed,
	}
	x.ctx, x.cancel = context.WithCancelCause(context.Background())
	return x
}

func validID(id string) bool {
	if id == "" || len(id) > maxID {
		return false
	}
	for _, c := range []byte(id) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && !('0' <= c && c <= '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// Get finds an execution that runs or is still kept.
func (r *Registry) Get(id string) (*Execution, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if x := r.byID[id]; x != nil {
		return x, nil
	}
	return nil, notFound()
}

// Follow reads the events of an execution that are numbered above after. Its
// reader must be closed.
func (r *Registry) Follow(id string, after int64) (*Reader, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	x := r.byID[id]
	if x == nil {
		return nil, notFound()
	}
	if _, last := x.log.span(); after < 0 || after > last {
		return nil, &wire.Error{Code: wire.CodeInvalid, Message: "The execution has no event with the number in after"}
	}
	return x.Follow(after), nil
}

func notFound() error {
	return &wire.Error{Code: wire.CodeNotFound, Message: "There is no such execution"}
}

// List tells the state of all, in the order of their beginnings.
func (r *Registry) List() []wire.ExecutionInfo {
	r.mu.Lock()
	all := slices.Collect(maps.Values(r.byID))
	r.mu.Unlock()
	infos := make([]wire.ExecutionInfo, 0, len(all))
	for _, x := range all {
		infos = append(infos, x.Info())
	}
	slices.SortFunc(infos, func(a, b wire.ExecutionInfo) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return infos
}

// Cancel asks for the end of an execution. A word to cancel can overtake the
// request that starts, when whoever sent both has gone: the id is refused for
// a while, so that nothing runs for nobody.
func (r *Registry) Cancel(id string) error {
	x, err := r.Get(id)
	if err == nil {
		x.Cancel(wire.StatusCanceled)
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if validID(id) && len(r.refused) < maxRefused {
		r.refused[id] = time.Now()
	}
	return err
}

// isRefused also forgets what was refused long ago. r.mu is held.
func (r *Registry) isRefused(id string) bool {
	maps.DeleteFunc(r.refused, func(_ string, at time.Time) bool { return time.Since(at) > keepRefused })
	_, refused := r.refused[id]
	return refused
}

// Discard forgets an execution that never began.
func (r *Registry) Discard(x *Execution) {
	x.cancel(nil)
	x.log.drop()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running--
	delete(r.byID, x.id)
}

// Busy counts the executions that have not ended.
func (r *Registry) Busy() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.running
}

// Close cancels what runs and lets nothing new begin.
func (r *Registry) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for _, x := range r.byID {
		x.Cancel(wire.StatusCanceled)
	}
}

// end keeps an execution that has ended for a while.
func (r *Registry) end(x *Execution) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running--
	r.ended = append(r.ended, x)
	x.expiry = r.clock.AfterFunc(keepEnded, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.forget(x)
	})
	if len(r.ended) > maxEnded {
		r.forget(r.ended[0])
	}
}

// shed makes room: ended executions are forgotten, the oldest first, and then
// who has most on the disk lets some of it go. If that is not enough, those that
// are forgotten but still read are left their fair share, and those that run
// take no more than theirs.
func (r *Registry) shed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.cramped() && len(r.ended) > 0 {
		r.forget(r.ended[0])
	}
	if r.cramped() && r.disk.crowded() {
		r.giveSegment() // one is much: it is looked again soon
	}
	r.trim()
}

func (r *Registry) cramped() bool { return r.budget.over() && !r.disk.roomy() }

// giveWay lets a segment go, of who has most on the disk; it says whether there
// was one.
func (r *Registry) giveWay() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.giveSegment()
}

func (r *Registry) giveSegment() bool {
	var largest *Log
	var most int64
	for l := range r.logs() {
		if size := l.onDisk(); size > most {
			largest, most = l, size
		}
	}
	return largest != nil && largest.yield()
}

// logs gives all that anybody can read. r.mu is held.
func (r *Registry) logs() iter.Seq[*Log] {
	return func(yield func(*Log) bool) {
		for _, x := range r.byID {
			if !yield(x.log) {
				return
			}
		}
		for _, l := range r.read {
			if !yield(l) {
				return
			}
		}
	}
}

// trim leaves those their share that are forgotten but still read.
func (r *Registry) trim() {
	r.read = slices.DeleteFunc(r.read, func(l *Log) bool { return !l.trim() })
}

// forget is for an execution that has ended. r.mu is held.
func (r *Registry) forget(x *Execution) {
	i := slices.Index(r.ended, x)
	if i < 0 {
		return
	}
	r.ended = slices.Delete(r.ended, i, i+1)
	delete(r.byID, x.id)
	x.expiry.Stop()
	r.trim()
	if x.log.drop() {
		r.read = append(r.read, x.log)
	}
}
