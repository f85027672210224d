package sandboxclient

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sandgate/sandboxclient/wire"
)

// engine is a driver whose sandboxes live in this process, so that the life
// cycle can be driven through every order of events on a clock of its own.
type engine struct {
	mu        sync.Mutex
	boxes     map[ID]*engineBox
	creates   int
	destroys  int
	removed   map[ID]bool
	createErr error
	destroy   func() error // what a destroy comes to; nil: success
	bootTime  time.Duration
	dead      bool // new sandboxes never answer
	mute      bool // nor do those that begin with the template
}

var _ Driver = (*engine)(nil)

// engineBox is one sandbox: an HTTP server on pipes.
type engineBox struct {
	id      ID
	spec    Spec
	conns   chan net.Conn
	gone    chan struct{}
	server  *http.Server
	busy    atomic.Int32 // executions that it runs
	started atomic.Bool
	value   atomic.Int32  // what "inc" counts
	blocked atomic.Int32  // cells that never end
	stop    chan struct{} // ends one of them
	silent  atomic.Bool   // it answers nobody
	slow    atomic.Int64  // how many nanoseconds it takes to answer
	failing atomic.Bool   // it answers with an error
	settled atomic.Bool   // it is prepared for a sleep

	mu       sync.Mutex
	events   []wire.Event // of the execution that can be followed
	refuse   bool         // it cannot
	canceled int
}

func newEngine() *engine {
	return &engine{boxes: make(map[ID]*engineBox), removed: make(map[ID]bool)}
}

func (e *engine) Create(ctx context.Context, spec Spec) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(e.bootTime):
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.creates++
	switch {
	case e.createErr != nil:
		return e.createErr
	case e.boxes[spec.ID] != nil:
		return ErrExists
	}
	e.boot(spec)
	return nil
}

// boot starts a box; e.mu is held.
func (e *engine) boot(spec Spec) *engineBox {
	b := &engineBox{id: spec.ID, spec: spec, conns: make(chan net.Conn), gone: make(chan struct{}), stop: make(chan struct{})}
	b.server = &http.Server{Handler: b.handler()}
	e.boxes[spec.ID] = b
	if !e.dead && (!e.mute || spec.Template == "") {
		go func() { _ = b.server.Serve(b) }()
	}
	return b
}

func (e *engine) List(context.Context) ([]ID, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Collect(maps.Keys(e.boxes)), nil
}

func (e *engine) Dial(ctx context.Context, id ID) (net.Conn, error) {
	e.mu.Lock()
	b := e.boxes[id]
	e.mu.Unlock()
	if b == nil {
		return nil, ErrGone
	}
	near, far := net.Pipe()
	select {
	case b.conns <- far:
		return near, nil
	case <-b.gone:
		return nil, ErrGone
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (e *engine) Destroy(_ context.Context, id ID, workspace Workspace) error {
	if e.destroy != nil {
		if err := e.destroy(); err != nil {
			return err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.destroys++
	if workspace == RemoveWorkspace {
		e.removed[id] = true
	}
	if b := e.boxes[id]; b != nil {
		delete(e.boxes, id)
		b.kill()
	}
	return nil
}

// kill ends a sandbox behind the client's back; the engine still lists it.
func (e *engine) kill(id ID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.boxes[id].kill()
}

// silence has all sandboxes answer nobody, or again.
func (e *engine) silence(silent bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, b := range e.boxes {
		b.silent.Store(silent)
	}
}

func (e *engine) count() (creates, destroys, running int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.creates, e.destroys, len(e.boxes)
}

func (e *engine) limits(id ID) Limits {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.boxes[id].spec.Limits
}

func (b *engineBox) kill() {
	select {
	case <-b.gone:
	default:
		close(b.gone)
		_ = b.server.Close()
	}
}

// Accept, Close and Addr make the box a listener for its own server.
func (b *engineBox) Accept() (net.Conn, error) {
	select {
	case c := <-b.conns:
		return c, nil
	case <-b.gone:
		return nil, errors.New("gone")
	}
}

func (b *engineBox) Close() error   { return nil }
func (b *engineBox) Addr() net.Addr { return &net.UnixAddr{Name: string(b.id)} }

// handler answers as sandboxd would. The code of a cell is a command to the
// engine: "block" never ends, "wait" ends after a minute, "hang up" breaks.
func (b *engineBox) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/health", func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(time.Duration(b.slow.Load()))
		if b.silent.Load() {
			<-r.Context().Done()
			return
		}
		if b.failing.Load() {
			w.WriteHeader(http.StatusInternalServerError)
			_ = json.NewEncoder(w).Encode(wire.Error{Code: wire.CodeInternal, Message: "too many open files"})
			return
		}
		_ = json.NewEncoder(w).Encode(wire.Health{Version: wire.Version, Busy: int(b.busy.Load())})
	})
	mux.HandleFunc("POST /v1/sleep", func(http.ResponseWriter, *http.Request) { b.settled.Store(true) })
	mux.HandleFunc("DELETE /v1/sleep", func(http.ResponseWriter, *http.Request) { b.settled.Store(false) })
	mux.HandleFunc("GET /v1/contexts", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode([]wire.ContextInfo{{ID: "default-python"}})
	})
	mux.HandleFunc("POST /v1/contexts", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(wire.Warmed{})
	})
	mux.HandleFunc("GET /v1/executions", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode([]wire.ExecutionInfo{})
	})
	mux.HandleFunc("GET /v1/executions/{id}/events", b.follow)
	mux.HandleFunc("DELETE /v1/executions/{id}", func(w http.ResponseWriter, _ *http.Request) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.canceled++
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("POST /v1/contexts/{id}/interrupt", b.interrupt)
	mux.HandleFunc("POST /v1/run", b.run)
	return mux
}

// offer says what can be followed, or that nothing can.
func (b *engineBox) offer(events []wire.Event, refuse bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events, b.refuse = events, refuse
}

func (b *engineBox) cancellations() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.canceled
}

// follow gives the kept events after a number and then breaks, or ends.
func (b *engineBox) follow(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	events, refuse := b.events, b.refuse
	b.mu.Unlock()
	if refuse || events == nil {
		w.WriteHeader(http.StatusNotFound)
		_ = json.NewEncoder(w).Encode(wire.Error{Code: wire.CodeNotFound, Message: "There is no such execution"})
		return
	}
	after, _ := strconv.ParseInt(r.URL.Query().Get("after"), 10, 64)
	if last := events[len(events)-1]; after == last.Seq && last.Terminal() {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	for _, e := range events[after:] {
		frame, _ := wire.AppendEvent(nil, e)
		_, _ = w.Write(frame)
	}
}

func (b *engineBox) interrupt(w http.ResponseWriter, _ *http.Request) {
	if b.blocked.Load() == 0 {
		w.WriteHeader(http.StatusConflict)
		_ = json.NewEncoder(w).Encode(wire.Error{Code: wire.CodeConflict, Message: "Nothing is running here"})
		return
	}
	b.stop <- struct{}{}
	w.WriteHeader(http.StatusNoContent)
}

func (b *engineBox) run(w http.ResponseWriter, r *http.Request) {
	var req wire.RunRequest
	_ = json.NewDecoder(r.Body).Decode(&req)
	send := func(e wire.Event) {
		frame, _ := wire.AppendEvent(nil, e)
		_, _ = w.Write(frame)
		_ = http.NewResponseController(w).Flush()
	}
	if req.Code == "block" { // before anybody hears of it, as in sandboxd: then it can be interrupted
		b.blocked.Add(1)
		defer b.blocked.Add(-1)
	}
	send(wire.Event{Seq: 1, Type: wire.EventStart, Start: &wire.Start{KernelStarted: !b.started.Swap(true), KernelStarts: 1}})
	switch req.Code {
	case "block":
		select {
		case <-r.Context().Done():
		case <-b.stop:
			send(wire.Event{Seq: 2, Type: wire.EventComplete, Exit: &wire.Exit{Status: wire.StatusCanceled}})
		}
		return
	case "inc":
		req.Code = strconv.Itoa(int(b.value.Add(1)))
	case "wait":
		time.Sleep(time.Minute)
	case "hang up":
		panic(http.ErrAbortHandler)
	case "start again":
		send(wire.Event{Seq: 2, Type: wire.EventStart, Start: &wire.Start{KernelStarted: true}})
		return
	}
	send(wire.Event{Seq: 2, Type: wire.EventStdout, Data: []byte(req.Code)})
	send(wire.Event{Seq: 3, Type: wire.EventComplete, Exit: &wire.Exit{Status: wire.StatusExited}})
}

// memory keeps records for a test.
type memory struct {
	mu          sync.Mutex
	err         error  // of counting
	saving      func() // is told before a record is written; may be nil
	records     map[ID]Record
	listed      int // records that were asked for
	generations map[string]int
}

func newMemory() *memory {
	return &memory{records: make(map[ID]Record), generations: make(map[string]int)}
}

func (m *memory) SaveSandbox(_ context.Context, r Record) error {
	if m.saving != nil {
		m.saving()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.records[r.ID] = r
	return nil
}

func (m *memory) ListSandboxes(_ context.Context, which Which) ([]Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var records []Record
	for id, r := range m.records {
		if (which.ID == "" || which.ID == id) && (which.Owner == "" || which.Owner == r.Ref.Owner) {
			records = append(records, r)
		}
	}
	m.listed += len(records)
	return records, nil
}

// lastUsed is what the record of a sandbox says.
func (m *memory) lastUsed(id ID) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.records[id].LastUsed
}

func (m *memory) DeleteSandbox(_ context.Context, id ID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.records, id)
	maps.DeleteFunc(m.generations, func(key string, _ int) bool { return strings.HasPrefix(key, string(id)) })
	return nil
}

func (m *memory) Generation(_ context.Context, id ID, codeContext string, started bool) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return 0, m.err
	}
	key := string(id) + codeContext
	if started {
		m.generations[key]++
	}
	return m.generations[key], nil
}

// testClient gives a client on an engine, closed with the test.
func testClient(t *testing.T, e *engine, m *memory) *Client {
	t.Helper()
	c := New(Options{Driver: e, Records: m, Key: []byte("key"), SleepAfter: 10 * time.Minute})
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}
