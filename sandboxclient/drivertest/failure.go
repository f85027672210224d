package drivertest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"sandgate/sandboxclient"
)

// noticed is how long a driver may take to learn that an engine was killed.
const noticed = 2 * time.Second

func checkCreateCanceled(r *rig) {
	for _, after := range []time.Duration{0, 10 * time.Millisecond, 40 * time.Millisecond, 80 * time.Millisecond} {
		id := r.newID()
		ctx, cancel := context.WithTimeout(context.Background(), after)
		err := r.driver.Create(ctx, spec(id))
		cancel()
		if err == nil {
			r.destroy(id, sandboxclient.KeepWorkspace) // it was quicker
			continue
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			r.Errorf("after %v: %v, want the context's error", after, err)
		}
		if r.listed(id) {
			r.Errorf("after %v: a sandbox is left", after)
		}
	}
}

func checkDestroyCanceled(r *rig) {
	id := r.start()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := r.driver.Destroy(ctx, id, sandboxclient.KeepWorkspace); err != nil && !r.listed(id) {
		r.Error("it was not destroyed, and is forgotten")
	}
	r.destroy(id, sandboxclient.KeepWorkspace)
	r.startSpec(spec(id))
}

func checkKilled(r *rig) {
	r.need(r.cfg.Kill != nil, "way to kill a sandbox from outside")
	id := r.start()
	ended := make(chan error, 1)
	c := r.client(id)
	go func() {
		_, err := c.exec(context.Background(), patience, "/bin/sleep", "60")
		ended <- err
	}()
	r.must(id, "until pgrep -x sleep; do sleep 0.02; done")
	r.cfg.Kill(r.T, r.state, id)
	r.gone(id, noticed)
	select {
	case err := <-ended:
		if err == nil {
			r.Error("the request that was under way ended well")
		}
	case <-time.After(noticed):
		r.Error("the request that was under way still waits")
		c.close()
	}
}

func checkKilledReplaced(r *rig) {
	r.need(r.cfg.Kill != nil, "way to kill a sandbox from outside")
	id := r.start()
	r.must(id, "echo intact > /workspace/f")
	r.cfg.Kill(r.T, r.state, id)
	r.gone(id, noticed)
	if !r.listed(id) {
		r.Error("a dead sandbox is not listed: nobody would clear it")
	}
	if err := r.driver.Create(r.ctx(), spec(id)); !errors.Is(err, sandboxclient.ErrExists) {
		r.Errorf("create over a dead sandbox: %v, want ErrExists", err)
	}
	r.destroy(id, sandboxclient.KeepWorkspace)
	r.startSpec(spec(id))
	if got := r.must(id, "cat /workspace/f"); got != "intact\n" {
		r.Errorf("the workspace holds %q", got)
	}
}

func checkRestart(r *rig) {
	id := r.start()
	r.must(id, "echo before > /tmp/f")
	r.restart()
	if !r.listed(id) {
		r.Fatal("not listed")
	}
	if got := r.must(id, "cat /tmp/f"); got != "before\n" {
		r.Errorf("the sandbox now holds %q", got)
	}
	r.restart()
	r.destroy(id, sandboxclient.KeepWorkspace)
	if r.listed(id) {
		r.Error("listed after it was destroyed")
	}
}

func checkRestartDead(r *rig) {
	r.need(r.cfg.Kill != nil, "way to kill a sandbox from outside")
	id := r.start()
	r.cfg.Kill(r.T, r.state, id)
	r.restart()
	if !r.listed(id) {
		r.Error("not listed")
	}
	r.gone(id, noticed)
	r.destroy(id, sandboxclient.RemoveWorkspace)
	if r.listed(id) {
		r.Error("listed after it was destroyed")
	}
}

// hostFile makes a file that everybody on the host may read.
func (r *rig) hostFile(text string) string {
	r.Helper()
	dir, err := os.MkdirTemp("", "sg-host")
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "file")
	if err := errors.Join(os.Chmod(dir, 0o755), os.WriteFile(path, []byte(text), 0o644), os.Chmod(path, 0o644)); err != nil {
		r.Fatal(err)
	}
	return path
}
