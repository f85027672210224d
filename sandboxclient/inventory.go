package sandboxclient

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"
)

// Where a sandbox is in its life:
//
//	absent → starting → running ⇄ hibernated
//	                       ↓          ↓
//	                    stopped    stopped     the workspace alone; the next operation starts it
//
// From everywhere Destroy with RemoveWorkspace, or Options.Retention, leads back
// to absent. The way down from running is called stopping; it leads to
// hibernated where the driver can, and to stopped where it cannot.
const (
	StateStarting   = "starting"
	StateRunning    = "running"
	StateStopping   = "stopping"
	StateHibernated = "hibernated"
	StateStopped    = "stopped"
)

// Info tells of one sandbox.
type Info struct {
	Ref
	ID        ID // as the log and the host call it
	State     string
	CreatedAt time.Time
	LastUsed  time.Time
	SleepsAt  time.Time // when it sleeps if nobody uses it; zero unless it runs idle
	ExpiresAt time.Time // when it is destroyed if nobody uses it; zero: never
	Usage
}

// Sandboxes tells of an owner's sandboxes that last, the last used first.
func (c *Client) Sandboxes(ctx context.Context, owner string) ([]Info, error) {
	records, err := c.opts.Records.ListSandboxes(ctx, Which{Owner: owner})
	if err != nil {
		return nil, &Error{Code: CodeInternal, Op: "list", Message: "The sandboxes could not be listed", Err: err}
	}
	var infos []Info
	for _, r := range records {
		if r.Ref.Owner == owner && !r.Ref.Ephemeral { // nobody's would be everybody's
			infos = append(infos, c.info(r))
		}
	}
	slices.SortFunc(infos, func(a, b Info) int {
		return cmp.Or(b.LastUsed.Compare(a.LastUsed), cmp.Compare(a.App, b.App), cmp.Compare(a.Name, b.Name))
	})
	return infos, nil
}

// Gauge tells what an owner's sandbox takes, which costs a look at the host.
func (c *Client) Gauge(info Info) Info {
	if c.gauge != nil {
		info.Usage = c.gauge.Usage(DeriveID(c.opts.Key, info.Ref))
	}
	return info
}

// info tells what is known of a sandbox without asking it.
func (c *Client) info(r Record) Info {
	info := Info{Ref: r.Ref, ID: r.ID, CreatedAt: r.CreatedAt, LastUsed: r.LastUsed}
	c.mu.Lock()
	l := c.lives[r.ID]
	c.mu.Unlock()
	if l != nil {
		l.describe(&info, c.opts.SleepAfter)
	}
	if info.State == "" {
		info.State = c.resting(r.ID)
	}
	if c.opts.Retention > 0 {
		info.ExpiresAt = info.LastUsed.Add(c.opts.Retention)
	}
	return info
}

// describe adds what the life cycle knows; it leaves the state empty when that
// is nothing.
func (l *lifecycle) describe(info *Info, sleepAfter time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.retired:
		return
	case l.link != nil:
		info.State = StateRunning
	case l.flight != nil && l.flight.ends:
		info.State = StateStopping
	case l.flight != nil:
		info.State = StateStarting
	}
	if l.lastUsed.After(info.LastUsed) {
		info.LastUsed = l.lastUsed
	}
	if l.link != nil && l.busy == 0 {
		info.SleepsAt = l.idleSince().Add(sleepAfter)
	}
}

// resting is the state of a sandbox that has no life cycle.
func (c *Client) resting(id ID) string {
	if c.asleep(id) {
		return StateHibernated
	}
	return StateStopped
}

// Info tells of the sandbox; one that does not exist is not_found.
func (s *Sandbox) Info(ctx context.Context) (Info, error) {
	r, err := s.record(ctx)
	if err != nil {
		return Info{}, s.failure(ctx, "info", err)
	}
	return s.client.Gauge(s.client.info(r)), nil
}

// record is what the database has of a sandbox that exists.
func (s *Sandbox) record(ctx context.Context) (Record, error) {
	records, err := s.client.opts.Records.ListSandboxes(ctx, Which{ID: s.id})
	if err != nil {
		return Record{}, err
	}
	if len(records) == 0 {
		return Record{}, Errorf(CodeNotFound, "There is no such sandbox")
	}
	return records[0], nil
}

// Exists says whether the sandbox has a workspace, or is about to, without touching it.
func (s *Sandbox) Exists() bool { return s.client.census.has(s.id) }

// Running says whether the sandbox runs at this moment, without starting it.
func (s *Sandbox) Running() bool {
	le := s.client.leaseRunning(s.id)
	if le == nil {
		return false
	}
	le.release()
	return true
}

// State tells where the sandbox is in its life, without touching it.
func (s *Sandbox) State() string {
	return s.client.info(Record{ID: s.id, Ref: s.ref}).State
}

// Hibernate puts the sandbox to sleep now. One that works is a conflict; one
// that does not run has nothing to do.
func (s *Sandbox) Hibernate(ctx context.Context) error {
	return s.observe(ctx, "hibernate sandbox", func() error {
		if s.client.hibernator == nil {
			return Errorf(CodeUnsupported, "Sandboxes cannot sleep here: that takes gVisor, --runtime runsc")
		}
		return s.hibernate(ctx)
	})
}

func (s *Sandbox) hibernate(ctx context.Context) error {
	c := s.client
	c.mu.Lock()
	l := c.lives[s.id]
	c.mu.Unlock()
	if l == nil {
		return nil
	}
	for asked := 1; l.peek() != nil && c.stillWorks(ctx, l); asked++ { // one answer that does not come says nothing
		if ctx.Err() != nil {
			return contextError(ctx)
		}
		if asked == maxSilence {
			return Errorf(CodeConflict, "Something runs in this sandbox: end it first, or wait")
		}
	}
	f := l.rest("somebody asked for it", l.idleLocked(0))
	if f == nil {
		f = l.underWay()
	}
	if f == nil {
		if l.peek() == nil {
			return nil
		}
		return Errorf(CodeConflict, "This sandbox is in use: try again when it is not")
	}
	if !f.landed(ctx) {
		return contextError(ctx)
	}
	if !f.ends && f.err == nil { // it was starting, and can sleep now
		return s.hibernate(ctx)
	}
	if errors.Is(f.err, ErrAwake) {
		return &Error{Code: CodeUnavailable, Message: "The sandbox could not be put to sleep, and runs on", RetryAfter: retrySoon, Err: f.err}
	}
	return f.err
}

// Wake has the sandbox run, from where it was if it sleeps.
func (s *Sandbox) Wake(ctx context.Context) error {
	return s.with(ctx, "wake sandbox", func(context.Context, *link) error { return nil })
}

// Counts says how many sandboxes there are in each state that takes memory, and
// how many of the running ones wait in the pool.
func (c *Client) Counts() (byState map[string]int, pooled int) {
	byState = map[string]int{StateStarting: 0, StateRunning: 0, StateStopping: 0}
	for _, l := range c.all() {
		var info Info
		l.describe(&info, 0)
		if info.State == "" {
			continue
		}
		byState[info.State]++
		if l.ref.App == poolApp && info.State == StateRunning {
			pooled++
		}
	}
	return byState, pooled
}
