package sandboxclient

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"
)

// What ephemeral sandboxes of a gateway that is gone do is lost, unless
// somebody says that he goes on with it.
func TestAdopt_takesOverTheEphemeralThatAreWanted(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Client, e *engine, m *memory) {
		wanted := Ref{Owner: "local", App: "a", Name: "wanted", Ephemeral: true}
		unwanted := Ref{Owner: "local", App: "a", Name: "unwanted", Ephemeral: true}
		for _, ref := range []Ref{wanted, unwanted} {
			mustRun(t, c.Sandbox(ref), "x")
		}
		next := New(Options{
			Driver: e, Records: m, Key: []byte("key"),
			Wanted: func(ref Ref) bool { return ref == wanted },
		})
		t.Cleanup(func() { _ = next.Close(context.Background()) })
		if next.Sandbox(wanted).Running() {
			t.Error("it runs before it was taken over")
		}
		if err := next.Adopt(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !next.Sandbox(wanted).Running() || next.Sandbox(unwanted).Running() {
			t.Error("the wrong one runs")
		}
		if !e.removed[next.Sandbox(unwanted).ID()] || e.removed[next.Sandbox(wanted).ID()] {
			t.Errorf("removed workspaces: %v", e.removed)
		}
		if err := next.Sandbox(wanted).Destroy(t.Context(), RemoveWorkspace); err != nil || next.Sandbox(wanted).Running() {
			t.Errorf("after its end: %v", err)
		}
	})
}

// What runs goes on, however few may by now; it counts, and makes room at its end.
func TestAdopt_endsNoneForBeingOneTooMany(t *testing.T) {
	for name, opts := range map[string]Options{
		"of an owner's": {Share: shareOf("local", Share{Running: 1})},
		"of all":        {MaxRunning: 1},
	} {
		inBubble(t, func(t *testing.T, c *Client, e *engine, m *memory) {
			for _, book := range []string{"a", "b", "c"} {
				mustRun(t, c.Sandbox(named(book)), "inc")
			}
			opts.Driver, opts.Records, opts.Key = e, m, []byte("key")
			next := New(opts)
			t.Cleanup(func() { _ = next.Close(context.Background()) })
			if err := next.Adopt(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, book := range []string{"a", "b", "c"} {
				if run := mustRun(t, next.Sandbox(named(book)), "inc"); run.Stdout != "2" {
					t.Errorf("%s: %s counts %s", name, book, run.Stdout)
				}
			}
			for _, book := range []string{"a", "b", "c"} {
				if err := next.Sandbox(named("d")).Wake(t.Context()); CodeOf(err) != CodeExhausted {
					t.Errorf("%s: beside %s: %v", name, book, err)
				}
				if err := next.Sandbox(named(book)).Destroy(t.Context(), RemoveWorkspace); err != nil {
					t.Fatal(err)
				}
			}
			mustRun(t, next.Sandbox(named("d")), "inc")
		})
	}
}

// A machine that is busy after a crash is no reason to lose what runs on it; what
// never answers is cleared all the same, and does not hold up the start for long.
func TestAdopt_waitsForWhoIsSlowToAnswer(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Client, e *engine, m *memory) {
		slow := c.Sandbox(named("slow"))
		mustRun(t, slow, "inc")
		box := theBox(e)
		for i := range 2 * atOnce {
			mustRun(t, c.Sandbox(named(strconv.Itoa(i))), "inc")
		}
		e.silence(true)
		time.AfterFunc(adoptTime/2, func() { box.silent.Store(false) })
		next := testClient(t, e, m)
		began := time.Now()
		if err := next.Adopt(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > adoptTime+3*maxSilence*time.Second {
			t.Errorf("it took %s", took)
		}
		if _, _, running := e.count(); running != 1 {
			t.Errorf("%d run where one answers", running)
		}
		if run := mustRun(t, next.Sandbox(named("slow")), "inc"); run.Stdout != "2" {
			t.Errorf("it counts %s", run.Stdout)
		}
	})
}

// Who was not waited for may live.
func TestAdopt_clearsNothingWhenItIsToStop(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Client, e *engine, m *memory) {
		for i := range 2 * atOnce {
			mustRun(t, c.Sandbox(named(strconv.Itoa(i))), "inc")
		}
		e.silence(true)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		if err := testClient(t, e, m).Adopt(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if _, destroys, _ := e.count(); destroys != 0 {
			t.Errorf("%d that may live were cleared", destroys)
		}
	})
}

func TestAppTimeouts_areTheAppsAlone(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *Client, e *engine, m *memory) {
		c := New(Options{
			Driver: e, Records: m, Key: []byte("key"), MaxTimeout: time.Minute,
			AppTimeouts: map[string]time.Duration{"long": 3 * time.Hour},
		})
		t.Cleanup(func() { _ = c.Close(context.Background()) })
		for app, want := range map[string]time.Duration{"long": 2 * time.Hour, "other": time.Minute} {
			if got := c.Sandbox(Ref{Owner: "local", App: app, Name: "x"}).timeout(2 * time.Hour); got != want {
				t.Errorf("%s: %s", app, got)
			}
		}
	})
}

func TestAppLimits_areTheAppsAlone(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *Client, e *engine, m *memory) {
		large := DefaultLimits()
		large.MemoryBytes *= 4
		c := New(Options{Driver: e, Records: m, Key: []byte("key"), AppLimits: map[string]Limits{"large": large}})
		t.Cleanup(func() { _ = c.Close(context.Background()) })
		for app, want := range map[string]Limits{"large": large, "other": DefaultLimits()} {
			s := c.Sandbox(Ref{Owner: "local", App: app, Name: "x"})
			mustRun(t, s, "x")
			if got := e.limits(s.ID()); got != want {
				t.Errorf("%s: %+v", app, got)
			}
		}
	})
}
