package sandboxclient

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func limited(t *testing.T, opts Options) (*Client, *engine) {
	t.Helper()
	e := newEngine()
	opts.Driver, opts.Records, opts.Key = e, newMemory(), []byte("key")
	c := New(opts)
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c, e
}

func named(name string) Ref { return Ref{Owner: "local", App: "notebook", Name: name} }

func TestMaxRunning_waitsForATurnAndThenRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := limited(t, Options{MaxRunning: 2})
		end := block(t, c.Sandbox(named("a")))
		defer block(t, c.Sandbox(named("b")))()
		began := time.Now()
		_, err := c.Sandbox(named("c")).RunCode(t.Context(), "x", RunOptions{})
		if CodeOf(err) != CodeExhausted || time.Since(began) != 10*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		time.AfterFunc(time.Second, func() {
			end()
			_ = c.Sandbox(named("a")).Destroy(t.Context(), KeepWorkspace)
		})
		mustRun(t, c.Sandbox(named("c")), "x")
	})
}

// block has a sandbox be at work until the function that it gives is called.
func block(t *testing.T, s *Sandbox) (end func()) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		_, _ = s.RunCode(ctx, "block", RunOptions{Timeout: time.Hour})
		close(ended)
	}()
	synctest.Wait()
	return func() {
		stop()
		<-ended
	}
}

func TestMaxRunning_countsWhatDiedAndWhatNeverStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, e := limited(t, Options{MaxRunning: 1})
		for range 3 {
			s := c.Sandbox(named("a"))
			mustRun(t, s, "x")
			e.kill(s.ID())
			synctest.Wait()
		}
		mustRun(t, c.Sandbox(named("a")), "x")
		if err := c.Sandbox(named("a")).Destroy(t.Context(), KeepWorkspace); err != nil {
			t.Fatal(err)
		}
		e.dead = true
		for range 2 {
			if _, err := c.Sandbox(named("b")).RunCode(t.Context(), "x", RunOptions{}); CodeOf(err) != CodeUnavailable {
				t.Error(err)
			}
		}
		e.dead = false
		mustRun(t, c.Sandbox(named("c")), "x")
	})
}

func TestMaxExisting_countsWorkspaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := limited(t, Options{MaxExisting: 1})
		a, b := c.Sandbox(named("a")), c.Sandbox(named("b"))
		mustRun(t, a, "x")
		if err := a.Destroy(t.Context(), KeepWorkspace); err != nil {
			t.Fatal(err)
		}
		if _, err := b.RunCode(t.Context(), "x", RunOptions{}); CodeOf(err) != CodeExhausted {
			t.Error(err)
		}
		if !a.Exists() || b.Exists() {
			t.Errorf("what was kept exists: %v; what was refused: %v", a.Exists(), b.Exists())
		}
		mustRun(t, a, "x")
		if err := a.Destroy(t.Context(), RemoveWorkspace); err != nil {
			t.Fatal(err)
		}
		if a.Exists() {
			t.Error("what was removed exists")
		}
		mustRun(t, b, "x")
	})
}

// An owner's share bounds that owner alone, and says so at once.
func TestShare_boundsOneOwner(t *testing.T) {
	for name, tc := range map[string]struct {
		share Share
		code  Code
	}{
		"sandboxes": {Share{Existing: 1}, CodeExhausted},
		"disk":      {Share{DiskBytes: DefaultLimits().WorkspaceBytes}, CodeNoSpace},
	} {
		synctest.Test(t, func(t *testing.T) {
			var told []string
			tc.share.Refused = func(limit string) { told = append(told, limit) }
			c, _ := limited(t, Options{Share: shareOf("local", tc.share)})
			a, b := c.Sandbox(named("a")), c.Sandbox(named("b"))
			mustRun(t, a, "x")
			if err := a.Destroy(t.Context(), KeepWorkspace); err != nil {
				t.Fatal(err)
			}
			refusedAtOnce(t, b, name, tc.code)
			if !slices.Equal(told, []string{name}) {
				t.Errorf("%s: told of %v", name, told)
			}
			mustRun(t, a, "x") // what there is already goes on
			for _, other := range []string{"a", "b", "c"} {
				mustRun(t, c.Sandbox(Ref{Owner: "else", App: "notebook", Name: other}), "x")
			}
			if err := a.Destroy(t.Context(), RemoveWorkspace); err != nil {
				t.Fatal(err)
			}
			mustRun(t, b, "x")
		})
	}
}

// Of those that run, one that is at work makes no room for another, nor one that
// cannot sleep and was just used.
func TestShare_boundsWhatRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := limited(t, Options{Share: shareOf("local", Share{Running: 1})})
		end := block(t, c.Sandbox(named("a")))
		refusedAtOnce(t, c.Sandbox(named("b")), "running", CodeExhausted)
		mustRun(t, c.Sandbox(Ref{Owner: "else", App: "notebook", Name: "a"}), "x")
		end()
		refusedAtOnce(t, c.Sandbox(named("b")), "idle", CodeExhausted) // it would lose its variables
		time.Sleep(10 * time.Minute)
		mustRun(t, c.Sandbox(named("b")), "x")
	})
}

func shareOf(owner string, share Share) func(string) Share {
	return func(other string) Share {
		if other != owner {
			return Share{}
		}
		return share
	}
}

func refusedAtOnce(t *testing.T, s *Sandbox, name string, code Code) {
	t.Helper()
	began := time.Now()
	if _, err := s.RunCode(t.Context(), "x", RunOptions{}); CodeOf(err) != code || time.Since(began) != 0 {
		t.Errorf("%s: %v after %s", name, err, time.Since(began))
	}
}
