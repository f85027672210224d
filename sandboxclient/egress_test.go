package sandboxclient

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"sync"
	"testing"

	"sandgate/sandboxclient/wire"
)

// An outsideEngine is an engine whose sandboxes can be given a way out.
type outsideEngine struct {
	*engine

	mu    sync.Mutex
	serve map[ID]func(context.Context, string, net.Conn)
	told  map[ID]wire.Egress
	fail  bool // sandboxes cannot open it
}

var _ Egresser = (*outsideEngine)(nil)

func (e *outsideEngine) Egress(id ID, serve func(context.Context, string, net.Conn)) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.serve[id] = serve
	return nil
}

func (e *outsideEngine) Create(ctx context.Context, spec Spec) error {
	if err := e.engine.Create(ctx, spec); err != nil {
		return err
	}
	e.engine.mu.Lock()
	defer e.engine.mu.Unlock()
	b := e.boxes[spec.ID]
	mux := http.NewServeMux()
	mux.Handle("/", b.handler())
	mux.HandleFunc("PUT /v1/egress", func(w http.ResponseWriter, r *http.Request) {
		e.mu.Lock()
		defer e.mu.Unlock()
		var settings wire.Egress
		_ = json.NewDecoder(r.Body).Decode(&settings)
		e.told[spec.ID] = settings
		if e.fail || e.serve[spec.ID] == nil { // connections would be closed at first
			w.WriteHeader(http.StatusInternalServerError)
			_ = json.NewEncoder(w).Encode(wire.Error{Code: wire.CodeInternal, Message: "no"})
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
	b.server.Handler = mux // nobody has dialled yet
	return nil
}

// house gives egress to one app.
type house struct {
	mu    sync.Mutex
	opens []Ref
}

func (h *house) Open(_ ID, ref Ref) Outlet {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.opens = append(h.opens, ref)
	if ref.App != "tests" {
		return nil
	}
	return outlet{}
}

type outlet struct{}

func (outlet) Settings() wire.Egress                         { return wire.Egress{Registry: "https://npm.example/"} }
func (outlet) Serve(_ context.Context, _ string, c net.Conn) { _ = c.Close() }

func withOutside(t *testing.T, f func(t *testing.T, c *Client, e *outsideEngine, h *house, m *memory)) {
	t.Helper()
	inBubble(t, func(t *testing.T, _ *Client, e *engine, m *memory) {
		o := &outsideEngine{engine: e, serve: map[ID]func(context.Context, string, net.Conn){}, told: map[ID]wire.Egress{}}
		h := &house{}
		c := New(Options{Driver: o, Records: m, Key: []byte("key"), Egress: h})
		t.Cleanup(func() { _ = c.Close(context.Background()) })
		f(t, c, o, h, m)
	})
}

var (
	testsRef = Ref{Owner: "local", App: "tests", Name: "x"}
	otherRef = Ref{Owner: "local", App: "other", Name: "x"}
)

func TestEgress_isTheAppsThatHaveIt(t *testing.T) {
	withOutside(t, func(t *testing.T, c *Client, e *outsideEngine, h *house, _ *memory) {
		for _, ref := range []Ref{testsRef, otherRef} {
			mustRun(t, c.Sandbox(ref), "x")
			mustRun(t, c.Sandbox(ref), "y")
		}
		with, without := c.Sandbox(testsRef).ID(), c.Sandbox(otherRef).ID()
		if e.told[with].Registry != "https://npm.example/" || e.serve[with] == nil {
			t.Errorf("the sandbox was told %+v", e.told[with])
		}
		if _, told := e.told[without]; told || e.serve[without] != nil {
			t.Error("another app's sandbox was given a way out")
		}
		if len(h.opens) != 2 {
			t.Errorf("asked for %v: want once a start", h.opens)
		}
	})
}

func TestEgress_comesBackWithASandboxThatIsTakenOver(t *testing.T) {
	withOutside(t, func(t *testing.T, c *Client, e *outsideEngine, _ *house, m *memory) {
		mustRun(t, c.Sandbox(testsRef), "x")
		id := c.Sandbox(testsRef).ID()
		e.serve, e.told = map[ID]func(context.Context, string, net.Conn){}, map[ID]wire.Egress{}
		next := New(Options{Driver: e, Records: m, Key: []byte("key"), Egress: &house{}})
		t.Cleanup(func() { _ = next.Close(context.Background()) })
		if err := next.Adopt(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !next.Sandbox(testsRef).Running() || e.serve[id] == nil || e.told[id].Registry == "" {
			t.Errorf("running %v, told %+v", next.Sandbox(testsRef).Running(), e.told[id])
		}
	})
}

// A sandbox that should have a way out and has none does not start: its
// programs would fail in ways that nobody understands.
func TestEgress_failsTheStart(t *testing.T) {
	withOutside(t, func(t *testing.T, c *Client, e *outsideEngine, _ *house, _ *memory) {
		e.fail = true
		if _, err := c.Sandbox(testsRef).RunCode(t.Context(), "x", RunOptions{}); CodeOf(err) != CodeUnavailable {
			t.Error(err)
		}
		if _, _, running := e.count(); running != 0 {
			t.Errorf("%d sandboxes are left", running)
		}
		e.fail = false
		mustRun(t, c.Sandbox(testsRef), "x")
	})
}

func TestEgress_needsTheDriversPower(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *Client, e *engine, m *memory) {
		c := New(Options{Driver: e, Records: m, Key: []byte("key"), Egress: &house{}})
		t.Cleanup(func() { _ = c.Close(context.Background()) })
		if _, err := c.Sandbox(testsRef).RunCode(t.Context(), "x", RunOptions{}); CodeOf(err) != CodeUnavailable {
			t.Error(err)
		}
		mustRun(t, c.Sandbox(otherRef), "x")
	})
}
