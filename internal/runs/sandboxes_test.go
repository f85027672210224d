package runs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"sandgate/sandboxclient"
	"sandgate/sandboxclient/wire"
)

// A box is a sandbox.
type box struct {
	execs map[string]*program
}

// A program is an execution: its events, and whoever waits for more.
type program struct {
	cmd sandboxclient.Command
	ctx context.Context // ends when it is canceled, or its sandbox ends
	end context.CancelCauseFunc

	mu     sync.Mutex
	events []sandboxclient.Event
	more   chan struct{}
	code   int
}

func (p *program) emit(e sandboxclient.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e.Seq, e.Time = int64(len(p.events)+1), time.Now().UTC()
	p.events = append(p.events, e)
	close(p.more)
	p.more = make(chan struct{})
}

func (p *program) out(text string) {
	p.emit(sandboxclient.Event{Type: wire.EventStdout, Data: []byte(text)})
}

func (p *program) err(text string) {
	p.emit(sandboxclient.Event{Type: wire.EventStderr, Data: []byte(text)})
}

// wait lasts until the program is ended from outside.
func (p *program) wait() { <-p.ctx.Done() }

// sleep lasts that long, unless the program is ended before.
func (p *program) sleep(d time.Duration) {
	select {
	case <-time.After(d):
	case <-p.ctx.Done():
	}
}

func (p *program) exit(code int) { p.code = code }

var (
	errKilled  = errors.New("canceled")
	errOverdue = errors.New("timed out")
	errDied    = errors.New("the sandbox died")
)

// live runs a script to its end, as a sandbox does.
func (p *program) live(do script) {
	if p.cmd.Timeout > 0 {
		timer := time.AfterFunc(p.cmd.Timeout, func() { p.end(errOverdue) })
		defer timer.Stop()
	}
	p.emit(sandboxclient.Event{Type: wire.EventStart, Start: &wire.Start{}})
	do(p)
	exit := &sandboxclient.Exit{Status: sandboxclient.StatusExited, ExitCode: p.code, DurationMS: 1}
	switch cause := context.Cause(p.ctx); {
	case errors.Is(cause, errDied):
		return
	case errors.Is(cause, errKilled):
		exit.Status, exit.ExitCode, exit.Signal = sandboxclient.StatusCanceled, 143, "SIGTERM"
	case errors.Is(cause, errOverdue):
		exit.Status, exit.ExitCode, exit.Signal = sandboxclient.StatusTimedOut, 143, "SIGTERM"
	}
	p.emit(sandboxclient.Event{Type: wire.EventComplete, Exit: exit})
}

// follow gives the program's events as the client would.
func (p *program) follow(ctx context.Context, after int64) iter.Seq2[sandboxclient.Event, error] {
	return func(yield func(sandboxclient.Event, error) bool) {
		for at := after; ; at++ {
			e, err := p.next(ctx, at)
			if err != nil {
				yield(sandboxclient.Event{Seq: at, Type: wire.EventError, Code: string(sandboxclient.CodeOf(err)), Message: "The sandbox ended"}, nil)
				return
			}
			if !yield(e, nil) || e.Terminal() {
				return
			}
		}
	}
}

func (p *program) next(ctx context.Context, at int64) (sandboxclient.Event, error) {
	for {
		e, more := p.event(at)
		if more == nil {
			return e, nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return sandboxclient.Event{}, &sandboxclient.Error{Code: sandboxclient.CodeCanceled}
		case <-p.died():
			return sandboxclient.Event{}, &sandboxclient.Error{Code: sandboxclient.CodeUnavailable}
		}
	}
}

// event gives one, or what is closed when there is more.
func (p *program) event(at int64) (sandboxclient.Event, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at < int64(len(p.events)) {
		return p.events[at], nil
	}
	return sandboxclient.Event{}, p.more
}

// died is closed when the sandbox has.
func (p *program) died() <-chan struct{} {
	if errors.Is(context.Cause(p.ctx), errDied) {
		return p.ctx.Done()
	}
	dead := make(chan struct{})
	context.AfterFunc(p.ctx, func() {
		if errors.Is(context.Cause(p.ctx), errDied) {
			close(dead)
		}
	})
	return dead
}

// A handle is the sandbox of one run.
type handle struct {
	w  *view
	id string
}

func (h *handle) start() (*box, error) {
	if h.w.dead() {
		return nil, errDead
	}
	h.w.mu.Lock()
	defer h.w.mu.Unlock()
	if h.w.createErr != nil {
		return nil, h.w.createErr
	}
	if h.w.boxes[h.id] == nil {
		h.w.boxes[h.id] = &box{execs: make(map[string]*program)}
	}
	return h.w.boxes[h.id], nil
}

func (h *handle) Running() bool {
	h.w.mu.Lock()
	defer h.w.mu.Unlock()
	return h.w.boxes[h.id] != nil
}

func (h *handle) MakeDir(ctx context.Context, _ string) (sandboxclient.FileInfo, error) {
	if ctx.Err() != nil {
		return sandboxclient.FileInfo{}, ctx.Err()
	}
	_, err := h.start()
	return sandboxclient.FileInfo{}, err
}

// aDirectory is the content of a file that is none.
const aDirectory = "\x00a directory"

func (h *handle) Stat(_ context.Context, path string) (sandboxclient.FileInfo, error) {
	h.w.mu.Lock()
	defer h.w.mu.Unlock()
	content, ok := h.w.files[strings.TrimPrefix(path, appDir+"/")]
	if !ok {
		return sandboxclient.FileInfo{}, sandboxclient.Errorf(sandboxclient.CodeNotFound, "not there")
	}
	if content == aDirectory {
		return sandboxclient.FileInfo{Type: wire.TypeDirectory}, nil
	}
	return sandboxclient.FileInfo{Type: wire.TypeFile, Size: int64(len(content)), Modified: time.Now()}, nil
}

func (h *handle) ReadFile(_ context.Context, path string, _ sandboxclient.ReadOptions) (*sandboxclient.File, error) {
	h.w.mu.Lock()
	defer h.w.mu.Unlock()
	content, ok := h.w.files[strings.TrimPrefix(path, appDir+"/")]
	if !ok {
		return nil, sandboxclient.Errorf(sandboxclient.CodeNotFound, "not there")
	}
	return &sandboxclient.File{Size: int64(len(content)), Body: io.NopCloser(strings.NewReader(content))}, nil
}

func (h *handle) ExecStream(ctx context.Context, cmd sandboxclient.Command) iter.Seq2[sandboxclient.Event, error] {
	b, err := h.start()
	if err != nil {
		return failed(err)
	}
	p := &program{cmd: cmd, more: make(chan struct{})}
	p.ctx, p.end = context.WithCancelCause(context.Background())
	h.w.mu.Lock()
	b.execs[cmd.Execution] = p
	do := h.w.script(cmd.Argv)
	h.w.mu.Unlock()
	go p.live(do)
	return p.follow(ctx, 0)
}

// does changes what a program does, also while an engine runs.
func (w *world) does(name string, s script) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.scripts[name] = s
}

// sandboxes counts those that are there.
func (w *world) sandboxes() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.boxes)
}

// script finds what a command does. w.mu is held.
func (w *world) script(argv []string) script {
	line := strings.Join(argv, " ")
	if len(argv) > 3 && argv[3] == "checkout" {
		line = "clone"
	}
	if argv[0] == "find" {
		return func(p *program) { p.out(w.listing()) }
	}
	if strings.HasSuffix(line, "/stat") {
		return func(p *program) { p.out(w.stats()) }
	}
	for _, name := range slices.Sorted(maps.Keys(w.scripts)) {
		if strings.HasSuffix(line, name) {
			return w.scripts[name]
		}
	}
	return func(p *program) { p.err(line + ": not found\n"); p.exit(127) }
}

// stats is what /proc says of two processes.
func (w *world) stats() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ticks += w.busy
	return fmt.Sprintf("1 (sandboxd) S 0 1 1 0 -1 0 0 0 0 0 7 7 0 0 20 0 1 0\n9 (no) de) S 1 9 9 0 -1 0 0 0 0 0 %d 0 0 0 20 0 1 0\n", w.ticks)
}

// listing is what find prints.
func (w *world) listing() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(w.files)) {
		kind := "f"
		if strings.HasPrefix(w.files[name], "-> ") {
			kind = "l"
		}
		b.WriteString(kind + " " + strconv.Itoa(len(w.files[name])) + " " + name + "\x00")
	}
	return b.String()
}

func (h *handle) Destroy(context.Context, sandboxclient.Workspace) error {
	if h.w.dead() {
		return errDead
	}
	h.w.kill(h.id)
	return nil
}

// kill ends a sandbox behind the engine's back.
func (w *world) kill(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if b := w.boxes[id]; b != nil {
		for _, p := range b.execs {
			p.end(errDied)
		}
		delete(w.boxes, id)
	}
}

// vanish takes a sandbox away whose programs can still tell their end.
func (w *world) vanish(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.boxes, id)
}

// killAll ends all sandboxes, as a gateway that stops does.
func (w *world) killAll() {
	w.mu.Lock()
	ids := slices.Collect(maps.Keys(w.boxes))
	w.mu.Unlock()
	for _, id := range ids {
		w.kill(id)
	}
}

// program finds an execution.
func (w *world) program(id string) *program {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, b := range w.boxes {
		if p := b.execs[id]; p != nil {
			return p
		}
	}
	return nil
}

func noExecution() error { return sandboxclient.Errorf(sandboxclient.CodeNotFound, "no execution") }

func (w *world) Execution(_ context.Context, _, id string) (sandboxclient.Execution, error) {
	if w.program(id) == nil {
		return sandboxclient.Execution{}, noExecution()
	}
	return sandboxclient.Execution{ID: id}, nil
}

func (w *world) FollowExecution(ctx context.Context, _, id string, after int64) iter.Seq2[sandboxclient.Event, error] {
	p := w.program(id)
	if p == nil {
		return failed(noExecution())
	}
	return p.follow(ctx, after)
}

func (w *world) CancelExecution(_ context.Context, _, id string) error {
	p := w.program(id)
	if p == nil {
		return noExecution()
	}
	p.end(errKilled)
	return nil
}

func (w *world) Permits(_, host string, _ int) error {
	if strings.HasSuffix(host, ".forbidden") {
		return sandboxclient.Errorf(sandboxclient.CodeForbidden, "%s is not allowed; --egress-allow names what is", host)
	}
	return nil
}

func (w *world) PrivateAllowed(host string, _ int) bool { return host == "127.0.0.1" }
