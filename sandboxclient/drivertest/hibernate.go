package drivertest

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"time"

	"sandgate/sandboxclient"
)

// hibernator gives the power, or skips the check on an engine without it.
func (r *rig) hibernator() sandboxclient.Hibernator {
	r.Helper()
	h, ok := r.driver.(sandboxclient.Hibernator)
	r.need(ok && h.CanHibernate(), "power to hibernate")
	return h
}

// hibernate puts a sandbox to sleep.
func (r *rig) hibernate(id sandboxclient.ID) {
	r.Helper()
	r.hangUp(id)
	if err := r.hibernator().Hibernate(r.ctx(), id, []byte("a note")); err != nil {
		r.Fatalf("hibernate: %v", err)
	}
}

// wake lets it go on.
func (r *rig) wake(id sandboxclient.ID) {
	r.Helper()
	if err := r.hibernator().Wake(r.ctx(), spec(id)); err != nil {
		r.Fatalf("wake: %v", err)
	}
	r.healthy(id)
}

// hangUp ends the connections to a sandbox, as the client does before it sleeps.
func (r *rig) hangUp(id sandboxclient.ID) {
	if c, ok := r.clients[id]; ok {
		c.close()
		delete(r.clients, id)
	}
}

// count starts a program that counts in /workspace/count until the check ends.
func (r *rig) count(id sandboxclient.ID) {
	r.Helper()
	ctx, stop := context.WithCancel(context.Background())
	c := r.client(id)
	var counting sync.WaitGroup
	counting.Go(func() {
		_, _ = c.exec(ctx, time.Hour, "/bin/sh", "-c", "n=0; while :; do n=$((n+1)); echo $n > /workspace/count; echo $n > /tmp/count; sleep 0.02; done")
	})
	r.Cleanup(func() { stop(); counting.Wait() })
	r.must(id, "until [ -s /workspace/count ]; do sleep 0.02; done")
}

// counted is how a shell reads what count has written: at times the file is empty.
const counted = `counted() { until n=$(cat "$1") && [ "$n" ]; do :; done; echo "$n"; }; `

func checkHibernate(r *rig) {
	h := r.hibernator()
	id := r.start()
	r.count(id)
	r.must(id, "echo kept > /tmp/disposable; echo kept > /workspace/durable")
	for range 3 {
		was := strings.TrimSpace(r.must(id, counted+"counted /workspace/count; cat /tmp/disposable /workspace/durable"))
		if !strings.HasSuffix(was, "kept\nkept") {
			r.Fatalf("the sandbox holds %q", was)
		}
		r.hibernate(id)
		if r.listed(id) {
			r.Error("listed while it sleeps: it costs nothing then")
		}
		r.gone(id, time.Second)
		slept, err := h.Asleep(id)
		if err != nil || string(slept.Note) != "a note" || slept.Bytes == 0 || time.Since(slept.At) > patience {
			r.Errorf("asleep: %+v, %v", slept, err)
		}
		r.wake(id)
		if _, err := h.Asleep(id); !errors.Is(err, sandboxclient.ErrNotAsleep) {
			r.Errorf("asleep after it woke: %v", err)
		}
		// What ran goes on, from where it was.
		r.must(id, counted+"a=$(counted /tmp/count); until [ $(counted /tmp/count) -gt $a ]; do sleep 0.02; done; [ $a -ge "+strings.Fields(was)[0]+" ]")
	}
}

func checkHibernateRestart(r *rig) {
	r.hibernator()
	id := r.start()
	r.must(id, "echo kept > /tmp/f")
	r.hibernate(id)
	r.restart()
	r.wake(id)
	if got := r.must(id, "cat /tmp/f"); got != "kept\n" {
		r.Errorf("/tmp/f holds %q", got)
	}
}

func checkWakeOnce(r *rig) {
	h := r.hibernator()
	id := r.start()
	if err := h.Wake(r.ctx(), spec(id)); !errors.Is(err, sandboxclient.ErrNotAsleep) {
		r.Errorf("waking what runs: %v", err)
	}
	r.hibernate(id)
	r.wake(id)
	r.destroy(id, sandboxclient.KeepWorkspace)
	if err := h.Wake(r.ctx(), spec(id)); !errors.Is(err, sandboxclient.ErrNotAsleep) {
		r.Errorf("waking a second time: %v", err)
	}
	r.startSpec(spec(id))
	r.hibernate(id)
	r.destroy(id, sandboxclient.KeepWorkspace)
	if err := h.Wake(r.ctx(), spec(id)); !errors.Is(err, sandboxclient.ErrNotAsleep) {
		r.Errorf("waking what was destroyed: %v", err)
	}
}

// lost wakes a sandbox that cannot be woken: the reason is told, once, and the
// next one starts on the same workspace.
func (r *rig) lost(id sandboxclient.ID, s sandboxclient.Spec, reason string) {
	r.Helper()
	h := r.hibernator()
	err := h.Wake(r.ctx(), s)
	var lost *sandboxclient.LostError
	if !errors.As(err, &lost) || !strings.Contains(lost.Why, reason) {
		r.Fatalf("wake: %v, want a loss that tells of %q", err, reason)
	}
	if err := h.Wake(r.ctx(), s); !errors.Is(err, sandboxclient.ErrNotAsleep) {
		r.Errorf("waking again: %v", err)
	}
	r.startSpec(s)
	if got := r.must(id, "cat /workspace/f; ls /tmp"); got != "kept\n" {
		r.Errorf("after a cold start the workspace and /tmp hold %q", got)
	}
}

func checkWakeChanged(r *rig) {
	r.hibernator()
	id := r.start()
	r.must(id, "echo kept > /workspace/f; touch /tmp/f")
	r.hibernate(id)
	other := spec(id)
	other.Limits.Processes++
	r.lost(id, other, "limits")
}

func checkWakeDamaged(r *rig) {
	r.need(r.cfg.Checkpoint != nil, "way to reach a checkpoint from outside")
	id := r.start()
	r.must(id, "echo kept > /workspace/f; touch /tmp/f")
	r.hibernate(id)
	for _, file := range r.cfg.Checkpoint(r.state, id) {
		if err := os.Truncate(file, 100); err != nil {
			r.Fatal(err)
		}
	}
	r.lost(id, spec(id), "memory")
}

func checkHibernateCanceled(r *rig) {
	h := r.hibernator()
	for _, after := range []time.Duration{0, 5 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond} {
		id := r.start()
		r.must(id, "echo kept > /workspace/f")
		r.hangUp(id)
		ctx, cancel := context.WithTimeout(context.Background(), after)
		err := h.Hibernate(ctx, id, nil)
		cancel()
		switch {
		case err == nil:
			r.wake(id)
		case errors.Is(err, sandboxclient.ErrAwake):
			r.healthy(id)
		default:
			r.startSpec(spec(id))
		}
		if got := r.must(id, "cat /workspace/f"); got != "kept\n" {
			r.Errorf("after %v: the workspace holds %q", after, got)
		}
		r.destroy(id, sandboxclient.RemoveWorkspace)
	}
}
