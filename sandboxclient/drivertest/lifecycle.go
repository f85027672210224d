package drivertest

import (
	"context"
	"errors"
	"sync"
	"time"

	"sandgate/sandboxclient"
)

func checkLife(r *rig) {
	id := r.newID()
	if r.listed(id) {
		r.Error("listed before it is created")
	}
	r.startSpec(spec(id))
	if !r.listed(id) {
		r.Error("not listed")
	}
	if got := r.must(id, "echo hello"); got != "hello\n" {
		r.Errorf("echo printed %q", got)
	}
	r.destroy(id, sandboxclient.RemoveWorkspace)
	if r.listed(id) {
		r.Error("listed after it was destroyed")
	}
	r.gone(id, time.Second)
}

func checkWorkspace(r *rig) {
	id := r.start()
	r.must(id, "echo kept > /workspace/f; echo lost > /tmp/f")
	r.destroy(id, sandboxclient.KeepWorkspace)
	if r.listed(id) {
		r.Error("listed, though only the workspace is left")
	}
	r.startSpec(spec(id))
	if got := r.must(id, "cat /workspace/f; ls /tmp"); got != "kept\n" {
		r.Errorf("kept workspace and new /tmp hold %q", got)
	}
	r.destroy(id, sandboxclient.RemoveWorkspace)
	r.startSpec(spec(id))
	if got := r.must(id, "ls -A /workspace"); got != "" {
		r.Errorf("removed workspace holds %q", got)
	}
}

func checkDuplicate(r *rig) {
	id := r.start()
	r.must(id, "echo mine > /workspace/f")
	if err := r.driver.Create(r.ctx(), spec(id)); !errors.Is(err, sandboxclient.ErrExists) {
		r.Errorf("second create: %v, want ErrExists", err)
	}
	if got := r.must(id, "cat /workspace/f"); got != "mine\n" {
		r.Errorf("the first sandbox now holds %q", got)
	}
}

func checkMalformedID(r *rig) {
	for _, id := range []sandboxclient.ID{"", "..", "../../etc", "UPPERCASEUPPERCASEUPPERCASE"} {
		if err := r.driver.Create(r.ctx(), spec(id)); err == nil {
			r.Errorf("create %q: no error", id)
		}
		if _, err := r.driver.Dial(r.ctx(), id); !errors.Is(err, sandboxclient.ErrGone) {
			r.Errorf("dial %q: %v, want ErrGone", id, err)
		}
		if err := r.driver.Destroy(r.ctx(), id, sandboxclient.RemoveWorkspace); err != nil {
			r.Errorf("destroy %q: %v", id, err)
		}
	}
}

func checkZeroLimits(r *rig) {
	for name, forget := range map[string]func(*sandboxclient.Limits){
		"memory":     func(l *sandboxclient.Limits) { l.MemoryBytes = 0 },
		"processors": func(l *sandboxclient.Limits) { l.CPUs = 0 },
		"processes":  func(l *sandboxclient.Limits) { l.Processes = 0 },
		"open files": func(l *sandboxclient.Limits) { l.OpenFiles = 0 },
		"disposable": func(l *sandboxclient.Limits) { l.TmpBytes = 0 },
	} {
		s := spec(r.newID())
		forget(&s.Limits)
		if err := r.driver.Create(r.ctx(), s); err == nil {
			r.Errorf("%s: a sandbox without a limit was created", name)
		}
	}
}

func checkDestroyTwice(r *rig) {
	never := r.newID()
	r.destroy(never, sandboxclient.KeepWorkspace)
	r.destroy(never, sandboxclient.RemoveWorkspace)

	id := r.start()
	for range 2 {
		r.destroy(id, sandboxclient.KeepWorkspace)
	}
	for range 2 {
		r.destroy(id, sandboxclient.RemoveWorkspace)
	}
}

func checkManyDials(r *rig) {
	c := r.client(r.start())
	ctx := r.ctx()
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			if err := c.health(ctx); err != nil {
				r.Errorf("health: %v", err)
			}
		})
	}
	wg.Wait()
}

func checkBurst(r *rig) {
	ids := make([]sandboxclient.ID, 20)
	for i := range ids {
		ids[i] = r.newID()
		r.client(ids[i]) // made here, used below
	}
	ctx := r.ctx()
	var wg sync.WaitGroup
	for _, id := range ids {
		wg.Go(func() {
			if err := r.driver.Create(ctx, spec(id)); err != nil {
				r.Errorf("create: %v", err)
				return
			}
			if err := r.clients[id].health(ctx); err != nil {
				r.Errorf("health: %v", err)
			}
		})
	}
	wg.Wait()
}

func checkDialUnknown(r *rig) {
	began := time.Now()
	if _, err := r.driver.Dial(r.ctx(), r.newID()); !errors.Is(err, sandboxclient.ErrGone) {
		r.Errorf("dial: %v, want ErrGone", err)
	}
	if took := time.Since(began); took > 10*time.Second {
		r.Errorf("it took %v", took)
	}
}

func checkDialCanceled(r *rig) {
	id := r.start()
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	for { // whatever sandboxd parks is taken, until there is nothing to wait for
		conn, err := r.driver.Dial(ctx, id)
		if err == nil {
			r.Cleanup(func() { _ = conn.Close() })
			continue
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			r.Errorf("dial: %v, want the context's error", err)
		}
		return
	}
}
