package sandboxclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// A lifecycle is what the client knows of one sandbox that runs, starts or
// ends. There is one for an id at a time, and in it at most one flight: a start
// or an end that everybody who comes meanwhile waits for.
type lifecycle struct {
	client *Client
	id     ID
	ref    Ref

	mu       sync.Mutex
	link     *link     // how to talk to it; nil unless it runs
	flight   *flight   // the start or end under way
	busy     int       // operations holding the link, and those about to
	lastUsed time.Time // the end of the last operation; zero: none yet
	saved    time.Time // lastUsed as this gateway wrote it down
	silence  int       // handshakes in a row that were not answered
	awake    time.Time // when it last could not sleep
	forgot   string    // why the start under way has no memory of before; of its flight alone
	retired  bool      // no longer in the client's map; get another

	entered atomic.Bool    // it was let in: it takes memory, or is about to
	asked   sync.WaitGroup // questions on the link that are no use of the sandbox
}

// A flight is one start or end. err is set before done is closed.
type flight struct {
	done chan struct{}
	ends bool // it is an end, whose failure is no answer to who wants a start
	err  error
}

// lifecycle gives the entry of an id, making it when there is none.
func (c *Client) lifecycle(id ID, ref Ref) *lifecycle {
	c.mu.Lock()
	defer c.mu.Unlock()
	l, ok := c.lives[id]
	if !ok {
		l = &lifecycle{client: c, id: id, ref: ref}
		c.lives[id] = l
		if c.seen != nil {
			c.seen[id] = true
		}
	}
	return l
}

// leaseRunning gives a lease on a sandbox if it runs, else nil.
func (c *Client) leaseRunning(id ID) *lease {
	c.mu.Lock()
	l, ok := c.lives[id]
	c.mu.Unlock()
	if !ok {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.leaseLocked()
}

// all gives the entries of this moment.
func (c *Client) all() []*lifecycle {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]*lifecycle, 0, len(c.lives))
	for _, l := range c.lives {
		all = append(all, l)
	}
	return all
}

func (c *Client) isClosing() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closing
}

// A lease is the right to use a running sandbox: it is not idle until every
// lease is released.
type lease struct {
	life *lifecycle
	link *link
	once sync.Once
}

// leaseLocked gives a lease if the sandbox runs, else nil; l.mu is held.
func (l *lifecycle) leaseLocked() *lease {
	if l.link == nil {
		return nil
	}
	l.busy++
	return &lease{life: l, link: l.link}
}

// release ends the lease; more than once is fine.
func (le *lease) release() {
	le.once.Do(func() {
		le.life.mu.Lock()
		defer le.life.mu.Unlock()
		le.life.busy--
		le.life.lastUsed = time.Now()
	})
}

// acquire finds or starts the sandbox. It waits no longer than ctx; a start
// goes on without those who left.
func (c *Client) acquire(ctx context.Context, id ID, ref Ref) (*lease, error) {
	for {
		l := c.lifecycle(id, ref)
		le, f := l.enter()
		switch {
		case le != nil:
			return le, nil
		case f == nil: // retired meanwhile
			continue
		}
		le, err := l.await(ctx, f)
		if le != nil || err != nil {
			return le, err
		}
	}
}

// enter gives a lease on a running sandbox, or the flight to wait for. It
// gives neither when the entry is retired.
func (l *lifecycle) enter() (*lease, *flight) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.retired:
		return nil, nil
	case l.link != nil:
		return l.leaseLocked(), nil
	case l.flight == nil:
		l.fly(&flight{}, l.start)
	}
	l.busy++ // until await has returned: who waits for it will use it
	return nil, l.flight
}

// await waits for a flight that enter gave. It gives a lease if the sandbox runs
// then, and nothing when the caller is to look again.
func (l *lifecycle) await(ctx context.Context, f *flight) (*lease, error) {
	var left error
	select {
	case <-ctx.Done():
		left = contextError(ctx)
	case <-f.done:
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy--
	if left != nil {
		return nil, left
	}
	if f.err != nil && !f.ends {
		return nil, f.err
	}
	return l.leaseLocked(), nil
}

// fly begins a flight; l.mu is held. Its goroutine ends with the flight.
func (l *lifecycle) fly(f *flight, do func() error) *flight {
	f.done = make(chan struct{})
	l.flight = f
	go func() {
		err := do()
		l.mu.Lock()
		defer l.mu.Unlock()
		l.flight = nil
		l.retireIfGone()
		f.err = err
		close(f.done)
	}()
	return f
}

// retireIfGone takes the entry out of the map when nothing is left to know.
func (l *lifecycle) retireIfGone() {
	if l.link != nil || l.flight != nil {
		return
	}
	l.retired = true
	l.client.mu.Lock()
	defer l.client.mu.Unlock()
	if l.client.lives[l.id] == l {
		delete(l.client.lives, l.id)
	}
}

// start records and creates the sandbox and shakes hands with it. It belongs
// to nobody's request, so it has a deadline of its own.
func (l *lifecycle) start() error {
	c := l.client
	ctx, cancel := context.WithTimeout(context.Background(), c.opts.QueueTime+wakeTime+wokenTime+c.opts.StartTimeout)
	defer cancel()
	began := time.Now()
	link, err := l.enterAndCreate(ctx)
	c.opts.Observe("start", observed(err), time.Since(began))
	if err != nil {
		c.opts.Logger.Log(ctx, levelOf(err), "sandbox did not start", "sandbox", l.id, "app", l.ref.App, "error", err)
		return startError(l.id, err)
	}
	c.opts.Logger.Info("sandbox started", "sandbox", l.id, "app", l.ref.App, "took", time.Since(began))
	l.opened(link)
	return nil
}

// enterAndCreate creates the sandbox if the census lets one more exist and run.
func (l *lifecycle) enterAndCreate(ctx context.Context) (*link, error) {
	census := l.client.census
	isNew, err := census.admit(l.id, l.ref)
	if err != nil {
		return nil, err
	}
	link, err := l.enterAndCreateCounted(ctx, isNew)
	if err != nil && isNew {
		l.forget()
	}
	return link, err
}

func (l *lifecycle) enterAndCreateCounted(ctx context.Context, isNew bool) (*link, error) {
	census := l.client.census
	if err := l.client.enter(ctx, l); err != nil {
		return nil, err
	}
	if l.client.isClosing() { // it may have waited for its turn
		census.leave(l.ref.Owner)
		return nil, &Error{Code: CodeUnavailable, Message: "The gateway is stopping", RetryAfter: 5 * time.Second}
	}
	link, err := l.create(ctx, isNew)
	if err != nil {
		census.leave(l.ref.Owner)
	}
	if err != nil && l.ref.Ephemeral { // nobody would look for its workspace
		l.discard()
	}
	return link, err
}

// forget takes back that a sandbox exists whose first start failed.
func (l *lifecycle) forget() {
	ctx, cancel := context.WithTimeout(context.Background(), l.client.opts.StartTimeout)
	defer cancel()
	if err := l.client.opts.Records.DeleteSandbox(ctx, l.id); err != nil {
		l.client.opts.Logger.Error("record was not deleted", "sandbox", l.id, "error", err)
		return
	}
	l.client.census.gone(l.id)
}

// create makes the sandbox; what fails half-way is destroyed again.
func (l *lifecycle) create(ctx context.Context, isNew bool) (*link, error) {
	c := l.client
	now := time.Now()
	record := Record{ID: l.id, Ref: l.ref, CreatedAt: now, LastUsed: now}
	if err := c.opts.Records.SaveSandbox(ctx, record); err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	l.recorded(now)
	spec := c.spec(l.id, l.ref)
	link, lost, err := l.wake(ctx, spec)
	if err != nil {
		return nil, err
	}
	if link == nil && isNew {
		link = l.claim(ctx, spec)
	}
	if link != nil {
		return link, nil
	}
	link, err = l.createAnew(ctx, spec)
	if err == nil {
		link.origin.lost = cmp.Or(lost, l.forgot)
	}
	return link, err
}

// recorded notes what the record of a sandbox that starts says.
func (l *lifecycle) recorded(used time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.saved = used
}

// createAnew makes the sandbox with nothing in its memory.
func (l *lifecycle) createAnew(ctx context.Context, spec Spec) (*link, error) {
	c, driver := l.client, l.client.opts.Driver
	err := driver.Create(ctx, spec)
	if errors.Is(err, ErrExists) { // a dead one that was not cleared, or one that we gave up
		if err := driver.Destroy(ctx, l.id, KeepWorkspace); err != nil {
			return nil, fmt.Errorf("clear the one before: %w", err)
		}
		err = driver.Create(ctx, spec)
	}
	if err != nil {
		return nil, fmt.Errorf("create: %w", err)
	}
	bound := c.opts.StartTimeout
	if spec.Template != "" {
		bound = wokenTime
	}
	link, err := l.openWithin(ctx, bound)
	if err != nil && spec.Template != "" && ctx.Err() == nil {
		spec.Template = ""
		return l.createAnew(ctx, spec)
	}
	return link, err
}

// openWithin is open with a bound.
func (l *lifecycle) openWithin(ctx context.Context, bound time.Duration) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	return l.open(ctx)
}

// open shakes hands with a sandbox that has just been started. One that does not
// answer is destroyed.
func (l *lifecycle) open(ctx context.Context) (*link, error) {
	link := newLink(l.client.opts.Driver, l.id)
	if err := l.greet(ctx, link); err != nil {
		link.close()
		l.discard()
		return nil, fmt.Errorf("handshake: %w", err)
	}
	return link, nil
}

// greet waits until a new sandbox answers, and gives it its way out. A connection
// that breaks is no answer while the sandbox lives: one that was woken may have
// had it open since before.
func (l *lifecycle) greet(ctx context.Context, link *link) error {
	_, err := link.health(ctx)
	for err != nil && !answered(err) && !errors.Is(err, ErrGone) && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-time.After(greetPause):
			_, err = link.health(ctx)
		}
	}
	if err != nil {
		return err
	}
	return l.client.openEgress(ctx, l.id, l.ref, link)
}

// greetPause is the pause between two questions whether a sandbox answers.
const greetPause = 20 * time.Millisecond

// opened notes that the sandbox runs, and where to talk to it.
func (l *lifecycle) opened(link *link) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.link, l.silence, l.lastUsed = link, 0, time.Now()
	l.entered.Store(true)
}

// discard destroys what a failed start left. The start's own deadline may be
// what failed, so clearing up has another.
func (l *lifecycle) discard() {
	ctx, cancel := context.WithTimeout(context.Background(), l.client.opts.StartTimeout)
	defer cancel()
	if err := l.client.opts.Driver.Destroy(ctx, l.id, l.ref.workspace()); err != nil {
		l.client.opts.Logger.Error("failed start was not cleared", "sandbox", l.id, "error", err)
	}
}

// lost notes that the sandbox behind a link does not answer any more, unless
// that is known already, and clears it away. The next operation starts another.
func (l *lifecycle) lost(dead *link, why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.link != dead || l.flight != nil {
		return
	}
	l.client.opts.Logger.Warn("sandbox lost", "sandbox", l.id, "app", l.ref.App, "why", why)
	l.flyDown(why, l.ref.workspace())
}

// end stops the sandbox if allowed says so while nothing can get in, and gives
// the flight; nil when it was not allowed.
func (l *lifecycle) end(why string, workspace Workspace, allowed func() bool) *flight {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.flight != nil || l.retired || !allowed() {
		return nil
	}
	return l.flyDown(why, workspace)
}

// flyDown begins the end; l.mu is held. Like a start it belongs to nobody's
// request and has a deadline of its own.
func (l *lifecycle) flyDown(why string, workspace Workspace) *flight {
	link := l.link
	l.link = nil
	return l.fly(&flight{ends: true}, func() error { return l.goDown(link, why, workspace) })
}

func (l *lifecycle) goDown(link *link, why string, workspace Workspace) error {
	if link != nil {
		link.close()
		defer l.client.census.leave(l.ref.Owner)
	}
	ctx, cancel := context.WithTimeout(context.Background(), l.client.opts.StartTimeout)
	defer cancel()
	return l.destroy(ctx, why, workspace)
}

// restart ends the sandbox and starts it with an empty memory, in one flight, if
// nobody else uses it; nil when somebody does. Who uses it next is told why.
func (l *lifecycle) restart(why string) *flight {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.flight != nil || l.link == nil || l.busy > 0 {
		return nil
	}
	link := l.link
	l.link = nil
	return l.fly(&flight{}, func() error {
		if err := l.goDown(link, why, KeepWorkspace); err != nil {
			return err
		}
		l.forgot = why
		defer func() { l.forgot = "" }()
		return l.start()
	})
}

func (l *lifecycle) destroy(ctx context.Context, why string, workspace Workspace) error {
	c := l.client
	began := time.Now()
	err := c.opts.Driver.Destroy(ctx, l.id, workspace)
	c.opts.Observe("destroy", observed(err), time.Since(began))
	if err != nil {
		c.opts.Logger.Error("sandbox did not end", "sandbox", l.id, "error", err)
		return &Error{Code: CodeInternal, Op: "destroy", Sandbox: l.id, Message: "The sandbox could not be ended", Err: err}
	}
	c.opts.Logger.Info("sandbox ended", "sandbox", l.id, "app", l.ref.App, "why", why)
	return l.remember(ctx, workspace)
}

// remember brings the record up to date with an end.
func (l *lifecycle) remember(ctx context.Context, workspace Workspace) error {
	if workspace == RemoveWorkspace {
		l.client.census.gone(l.id)
		return l.client.opts.Records.DeleteSandbox(ctx, l.id)
	}
	return l.save(ctx)
}

// save writes the time of the last use, if it changed.
func (l *lifecycle) save(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.saveLocked(ctx)
}

// saveIfRunning is save for who is not in a flight. The lock is held while the
// database writes, so that no end can delete the record in between and find it
// written again.
func (l *lifecycle) saveIfRunning(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.retired || l.flight != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, saveTime)
	defer cancel()
	return l.saveLocked(ctx)
}

// saveTime bounds a write that others wait for.
const saveTime = 2 * time.Second

func (l *lifecycle) saveLocked(ctx context.Context) error {
	if !l.lastUsed.After(l.saved) {
		return nil
	}
	used := l.lastUsed
	record := Record{ID: l.id, Ref: l.ref, CreatedAt: used, LastUsed: used}
	if err := l.client.opts.Records.SaveSandbox(ctx, record); err != nil {
		return err
	}
	l.saved = used
	return nil
}
