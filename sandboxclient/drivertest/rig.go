package drivertest

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sandgate/sandboxclient"
)

// patience bounds every step of a check; a healthy engine needs a fraction.
const patience = 30 * time.Second

// A rig is one check's driver with the sandboxes that were made on it.
type rig struct {
	*testing.T
	cfg     Config
	state   string
	driver  Driver
	made    []sandboxclient.ID
	clients map[sandboxclient.ID]*client
}

// newRig opens a driver. At the test's end all that was made is destroyed, and
// nothing may be left of it.
func newRig(t *testing.T, cfg Config, state string) *rig {
	before := goleak.IgnoreCurrent()
	r := &rig{T: t, cfg: cfg, state: state, clients: map[sandboxclient.ID]*client{}}
	r.driver = cfg.Open(t, state)
	t.Cleanup(func() {
		r.clear()
		goleak.VerifyNone(t, before)
	})
	return r
}

func (r *rig) clear() {
	for _, id := range r.made {
		r.destroy(id, sandboxclient.RemoveWorkspace)
	}
	if err := r.driver.Close(); err != nil {
		r.Errorf("close: %v", err)
	}
	for _, left := range r.cfg.Leftovers(r.state, r.made) {
		r.Errorf("left behind: %s", left)
	}
}

// ctx bounds one step. It does not end before the cleanup, unlike the test's own.
func (r *rig) ctx() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	r.Cleanup(cancel)
	return ctx
}

// newID names a sandbox that is cleared at the end, whether it is created or not.
func (r *rig) newID() sandboxclient.ID {
	id := sandboxclient.DeriveID([]byte(rand.Text()), sandboxclient.Ref{})
	r.made = append(r.made, id)
	return id
}

func spec(id sandboxclient.ID) sandboxclient.Spec {
	return sandboxclient.Spec{ID: id, Limits: sandboxclient.DefaultLimits()}
}

// start creates a sandbox and waits until it answers.
func (r *rig) start() sandboxclient.ID {
	r.Helper()
	return r.startSpec(spec(r.newID()))
}

func (r *rig) startSpec(s sandboxclient.Spec) sandboxclient.ID {
	r.Helper()
	if err := r.driver.Create(r.ctx(), s); err != nil {
		r.Fatalf("create: %v", err)
	}
	r.healthy(s.ID)
	return s.ID
}

func (r *rig) healthy(id sandboxclient.ID) {
	r.Helper()
	if err := r.client(id).health(r.ctx()); err != nil {
		r.Fatalf("health: %v", err)
	}
}

func (r *rig) destroy(id sandboxclient.ID, workspace sandboxclient.Workspace) {
	r.Helper()
	if c, ok := r.clients[id]; ok {
		c.close()
		delete(r.clients, id)
	}
	if err := r.driver.Destroy(r.ctx(), id, workspace); err != nil {
		r.Errorf("destroy: %v", err)
	}
}

// restart closes the driver and opens another one on the same state.
func (r *rig) restart() {
	r.Helper()
	for id, c := range r.clients {
		c.close()
		delete(r.clients, id)
	}
	if err := r.driver.Close(); err != nil {
		r.Fatalf("close: %v", err)
	}
	r.driver = r.cfg.Open(r.T, r.state)
}

// listed says whether List names the sandbox.
func (r *rig) listed(id sandboxclient.ID) bool {
	r.Helper()
	ids, err := r.driver.List(r.ctx())
	if err != nil {
		r.Fatalf("list: %v", err)
	}
	if sorted := slices.Sorted(slices.Values(ids)); len(slices.Compact(sorted)) != len(ids) {
		r.Errorf("list names a sandbox twice: %v", ids)
	}
	return slices.Contains(ids, id)
}

// gone waits until Dial says that the sandbox is.
func (r *rig) gone(id sandboxclient.ID, within time.Duration) {
	r.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	for {
		conn, err := r.driver.Dial(ctx, id)
		if errors.Is(err, sandboxclient.ErrGone) {
			return
		}
		if err != nil {
			r.Fatalf("dial after %v: %v, want ErrGone", within, err)
		}
		_ = conn.Close() // one that was parked before the end
	}
}

// need skips the check when the engine lacks a power.
func (r *rig) need(has bool, what string) {
	r.Helper()
	if !has {
		r.Skipf("this engine gives no %s", what)
	}
}
