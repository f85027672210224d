package codecontext

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sandgate/internal/sandboxd/awake"
	"sandgate/internal/sandboxd/execution"
	"sandgate/sandboxclient/wire"
)

// A fake interpreter does what its code says.
type fake struct {
	log   *journal
	ahead bool // and no cell has run
	once  sync.Once
	done  chan struct{}
	died  string
}

// A journal is what happened to all interpreters, in order.
type journal struct {
	mu      sync.Mutex
	entries []string
	startup time.Duration
	fails   error
}

func (j *journal) add(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries = append(j.entries, fmt.Sprintf(format, args...))
}

func (j *journal) text() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Join(j.entries, " ")
}

func (j *journal) start(ctx context.Context, spec Spec) (Started, error) {
	select {
	case <-time.After(j.startup):
	case <-ctx.Done():
		return Started{}, ctx.Err()
	}
	if j.fails != nil {
		return Started{}, j.fails
	}
	j.add("start:%s", spec.Language)
	f := &fake{log: j, ahead: spec.Ahead, done: make(chan struct{})}
	started := Started{Interpreter: f, Engine: "engine"}
	for _, module := range spec.Preload {
		switch module {
		case "broken":
			started.Failed = append(started.Failed, wire.FailedPreload{Module: module, Message: "ImportError"})
		case "deadly":
			time.AfterFunc(time.Second, func() { f.die("it died idle") })
		default:
			j.add("import:%s", module)
		}
	}
	return started, nil
}

func (f *fake) Run(ctx context.Context, c Cell, emit func(wire.Event)) wire.Exit {
	f.log.add("run:%s", c.Code)
	if f.ahead {
		f.ahead = false
		f.log.add("renewed:%s", changesText(c.Env))
	}
	emit(wire.Event{Type: wire.EventStdout, Data: []byte(c.Code)})
	verb, arg, _ := strings.Cut(c.Code, " ")
	switch verb {
	case "sleep":
		d, _ := time.ParseDuration(arg)
		select {
		case <-time.After(d):
		case <-f.done:
			return wire.Exit{Status: wire.StatusSignaled, ExitCode: 137}
		case <-ctx.Done():
			status, _ := execution.Cause(ctx)
			return wire.Exit{Status: status, ExitCode: 1}
		}
	case "die":
		f.die("it died")
		return wire.Exit{Status: wire.StatusExited, ExitCode: 1}
	case "die-later":
		time.AfterFunc(time.Second, func() { f.die("it died idle") })
	}
	return wire.Exit{Status: wire.StatusExited}
}

func (f *fake) die(why string) {
	f.once.Do(func() {
		f.died = why
		close(f.done)
	})
}

func (f *fake) Done() <-chan struct{} { return f.done }

func (f *fake) Died() string { return f.died }

func (f *fake) Close() {
	f.die("closed")
	f.log.add("close")
}

// A rig is a set with its executions.
type rig struct {
	*testing.T
	*journal
	set   *Set
	execs *execution.Registry
	n     int
}

// inBubble runs a test with a fake clock, and ends all contexts after it.
func inBubble(t *testing.T, test func(*rig)) {
	synctest.Test(t, func(t *testing.T) {
		j := new(journal)
		r := &rig{T: t, journal: j, set: NewSet(j.start, new(awake.Clock)), execs: execution.NewRegistry(execution.Options{})}
		test(r)
		r.set.Close()
	})
}

func (r *rig) run(id, code string) (*execution.Execution, error) {
	return r.request(wire.RunRequest{Context: wire.ContextSpec{ID: id, Language: wire.Python}, Code: code})
}

func (r *rig) request(req wire.RunRequest) (*execution.Execution, error) {
	r.Helper()
	r.n++
	if req.Context.Dir == "" {
		req.Context.Dir = "/"
	}
	x, err := r.execs.New(fmt.Sprint("x", r.n), execution.Cell, wire.Output{})
	if err != nil {
		r.Fatal(err)
	}
	return x, r.set.Run(x, req)
}

func (r *rig) must(x *execution.Execution, err error) *execution.Execution {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
	return x
}

// end waits for the end and gives all events.
func (r *rig) end(x *execution.Execution) []wire.Event {
	r.Helper()
	var all bytes.Buffer
	for reader := x.Follow(0); ; {
		frames, err := reader.Next(r.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			r.Fatal(err)
		}
		all.Write(frames)
	}
	var events []wire.Event
	for decoder := wire.NewEventReader(&all, 0); ; {
		e, err := decoder.Next()
		if errors.Is(err, io.EOF) {
			return events
		}
		if err != nil {
			r.Fatal(err)
		}
		events = append(events, e)
	}
}

func (r *rig) exit(x *execution.Execution) wire.Exit {
	r.Helper()
	events := r.end(x)
	last := events[len(events)-1]
	if last.Exit == nil {
		r.Fatalf("ended with %s: %s", last.Code, last.Message)
	}
	return *last.Exit
}

func (r *rig) started(x *execution.Execution) wire.Start {
	r.Helper()
	first := r.end(x)[0]
	if first.Start == nil {
		r.Fatalf("the first event is %s", first.Type)
	}
	return *first.Start
}

func (r *rig) wantCode(err error, code string) {
	r.Helper()
	if e, ok := errors.AsType[*wire.Error](err); !ok || e.Code != code {
		r.Errorf("got %v, want %s", err, code)
	}
}

func (r *rig) wantStatus(x *execution.Execution, status wire.Status) {
	r.Helper()
	if got := r.exit(x); got.Status != status {
		r.Errorf("ended as %+v, want %s", got, status)
	}
}

func TestRun_cellsOfOneContextTakeTurns(t *testing.T) {
	inBubble(t, func(r *rig) {
		var all []*execution.Execution
		for i := range 5 {
			all = append(all, r.must(r.run("a", fmt.Sprintf("sleep %dms", 50-i))))
		}
		for i, x := range all {
			exit := r.exit(x)
			if exit.ExecutionCount != i+1 || exit.DurationMS < float64(50-i) || exit.DurationMS > 60 {
				r.Errorf("cell %d: %+v", i, exit)
			}
			if s := r.started(x); s.KernelStarted != (i == 0) || s.KernelStarts != 1 || s.Reason != "" {
				r.Errorf("cell %d starts in %+v", i, s)
			}
		}
		if got, want := r.text(), "start:python run:sleep 50ms run:sleep 49ms run:sleep 48ms run:sleep 47ms run:sleep 46ms"; got != want {
			r.Errorf("got %s", got)
		}
	})
}

func TestRun_contextsRunBesideEachOther(t *testing.T) {
	inBubble(t, func(r *rig) {
		begin := time.Now()
		a, b := r.must(r.run("a", "sleep 1s")), r.must(r.run("b", "sleep 1s"))
		r.exit(a)
		r.exit(b)
		if took := time.Since(begin); took != time.Second {
			r.Errorf("took %v", took)
		}
	})
}

func TestRun_firstCellsAtOnceMakeOneContext(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.startup = time.Second
		var all []*execution.Execution
		for range 10 {
			all = append(all, r.must(r.run("a", "x")))
		}
		for _, x := range all {
			r.exit(x)
		}
		if n := strings.Count(r.text(), "start"); n != 1 || len(r.set.List()) != 1 {
			r.Errorf("%d starts, %d contexts", n, len(r.set.List()))
		}
	})
}

func TestRun_startsAnotherInterpreterAfterADeath(t *testing.T) {
	inBubble(t, func(r *rig) {
		if exit := r.exit(r.must(r.run("a", "die"))); exit.KernelDied != "it died" {
			r.Errorf("told as %+v", exit)
		}
		synctest.Wait()
		if info := r.set.List()[0]; info.State != wire.ContextDead || info.Died != "it died" {
			r.Errorf("then it is %+v", info)
		}
		next := r.must(r.run("a", "x"))
		if s := r.started(next); !s.KernelStarted || s.KernelStarts != 2 || s.Reason != "it died" {
			r.Errorf("the next starts in %+v", s)
		}
		if exit := r.exit(next); exit.ExecutionCount != 1 || exit.KernelDied != "" {
			r.Errorf("the next ends as %+v", exit)
		}
		r.exit(r.must(r.run("a", "die-later")))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if info := r.set.List()[0]; info.State != wire.ContextDead || info.Died != "it died idle" {
			r.Errorf("after an idle death it is %+v", info)
		}
		if s := r.started(r.must(r.run("a", "x"))); s.KernelStarts != 3 || s.Reason != "it died idle" {
			r.Errorf("then the next starts in %+v", s)
		}
	})
}

func TestRun_timeoutCountsFromTheCellsOwnStart(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.startup = 10 * time.Second
		spec := wire.ContextSpec{ID: "a", Language: wire.Python}
		first := r.must(r.request(wire.RunRequest{Context: spec, Code: "sleep 3s", TimeoutMS: 4000}))
		second := r.must(r.request(wire.RunRequest{Context: spec, Code: "sleep 3s", TimeoutMS: 4000}))
		third := r.must(r.request(wire.RunRequest{Context: spec, Code: "sleep 5s", TimeoutMS: 4000}))
		r.wantStatus(first, wire.StatusExited)
		r.wantStatus(second, wire.StatusExited)
		r.wantStatus(third, wire.StatusTimedOut)
	})
}

func TestCancel_ofACellThatWaits(t *testing.T) {
	inBubble(t, func(r *rig) {
		running := r.must(r.run("a", "sleep 10s"))
		waiting := r.must(r.run("a", "never"))
		synctest.Wait()
		if info := r.set.List()[0]; info.State != wire.ContextBusy || info.Queued != 1 {
			r.Errorf("it is %+v", info)
		}
		begin := time.Now()
		waiting.Cancel(wire.StatusCanceled)
		r.wantStatus(waiting, wire.StatusCanceled)
		if time.Since(begin) != 0 {
			r.Error("its end waited for its turn")
		}
		r.wantStatus(running, wire.StatusExited)
		r.exit(r.must(r.run("a", "next")))
		if strings.Contains(r.text(), "never") {
			r.Error("it ran")
		}
	})
}

func TestCancel_whileTheInterpreterStarts(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.startup = 10 * time.Second
		first := r.must(r.run("a", "never"))
		second := r.must(r.run("a", "second"))
		time.Sleep(time.Second)
		first.Cancel(wire.StatusCanceled)
		r.wantStatus(first, wire.StatusCanceled)
		if s := r.started(second); !s.KernelStarted || s.KernelStarts != 1 {
			r.Errorf("the second starts in %+v", s)
		}
	})
}

func TestInterrupt_whileTheInterpreterStarts(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.startup = 10 * time.Second
		first := r.must(r.run("a", "never"))
		time.Sleep(time.Second)
		if err := r.set.Interrupt("a"); err != nil {
			r.Error(err)
		}
		r.wantStatus(first, wire.StatusCanceled)
		r.wantStatus(r.must(r.run("a", "second")), wire.StatusExited)
	})
}

func TestInterrupt(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.wantCode(r.set.Interrupt("a"), wire.CodeNotFound)
		running := r.must(r.run("a", "sleep 1h"))
		waiting := r.must(r.run("a", "x"))
		synctest.Wait()
		if err := r.set.Interrupt("a"); err != nil {
			r.Error(err)
		}
		r.wantStatus(running, wire.StatusCanceled)
		r.wantStatus(waiting, wire.StatusExited)
		r.wantCode(r.set.Interrupt("a"), wire.CodeConflict)
		if n := strings.Count(r.text(), "start"); n != 1 {
			r.Errorf("%d starts", n)
		}
	})
}

func TestDelete_endsAllOfIt(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.wantCode(r.set.Delete(r.Context(), "a"), wire.CodeNotFound)
		running := r.must(r.run("a", "sleep 1h"))
		waiting := r.must(r.run("a", "never"))
		other := r.must(r.run("b", "sleep 1s"))
		synctest.Wait()
		if err := r.set.Delete(r.Context(), "a"); err != nil {
			r.Fatal(err)
		}
		r.wantStatus(running, wire.StatusCanceled)
		r.wantStatus(waiting, wire.StatusCanceled)
		if infos := r.set.List(); len(infos) != 1 || infos[0].ID != "b" {
			r.Errorf("left: %+v", infos)
		}
		if s := r.started(r.must(r.run("a", "x"))); !s.KernelStarted || s.KernelStarts != 1 || s.Reason != "it was restarted on request" {
			r.Errorf("a new one of the same name starts in %+v", s)
		}
		r.wantStatus(other, wire.StatusExited)
		if strings.Contains(r.text(), "never") {
			r.Error("a cell ran that should not")
		}
	})
}

func TestDelete_whileItStarts(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.startup = time.Minute / 2
		waiting := r.must(r.run("a", "never"))
		synctest.Wait()
		if err := r.set.Delete(r.Context(), "a"); err != nil {
			r.Fatal(err)
		}
		r.wantStatus(waiting, wire.StatusCanceled)
	})
}

func TestStart_failures(t *testing.T) {
	inBubble(t, func(r *rig) {
		failed := func(x *execution.Execution) wire.Event {
			events := r.end(x)
			return events[len(events)-1]
		}
		r.fails = &wire.Error{Code: wire.CodeUnsupported, Message: "no such language"}
		if e := failed(r.must(r.run("a", "x"))); e.Type != wire.EventError || e.Code != wire.CodeUnsupported {
			r.Errorf("unknown language: %+v", e)
		}
		synctest.Wait()
		if infos := r.set.List(); len(infos) != 0 {
			r.Errorf("a context that never was is %+v", infos)
		}
		r.fails = errors.New("exited with status 1")
		if e := failed(r.must(r.run("a", "x"))); e.Code != wire.CodeUnavailable || !strings.Contains(e.Message, "exited with status 1") {
			r.Errorf("a start that fails: %+v", e)
		}
		r.fails, r.startup = nil, 2*startTimeout
		if e := failed(r.must(r.run("a", "x"))); e.Code != wire.CodeUnavailable || !strings.Contains(e.Message, "did not start within") {
			r.Errorf("a start that hangs: %+v", e)
		}
		r.startup = 0
		r.wantStatus(r.must(r.run("a", "x")), wire.StatusExited)
		r.exit(r.must(r.run("a", "die")))
		r.fails = errors.New("no more")
		if e := failed(r.must(r.run("a", "x"))); e.Type != wire.EventError {
			r.Errorf("a restart that fails: %+v", e)
		}
		r.fails = nil
		if s := r.started(r.must(r.run("a", "x"))); s.KernelStarts != 2 || s.Reason != "it died" {
			r.Errorf("then it starts in %+v", s)
		}
	})
}

func TestRun_refusals(t *testing.T) {
	inBubble(t, func(r *rig) {
		for _, id := range []string{"", "a/b", "a\x00b", "a\nb", "\xff", strings.Repeat("x", maxID+1)} {
			_, err := r.run(id, "x")
			r.wantCode(err, wire.CodeInvalid)
		}
		spec := wire.ContextSpec{ID: "a", Language: wire.Python}
		for _, dir := range []string{"relative", "/no/such/dir", "/etc/passwd"} {
			bad := spec
			bad.Dir = dir
			_, err := r.request(wire.RunRequest{Context: bad})
			r.wantCode(err, wire.CodeInvalid)
		}
		bad := spec
		bad.Env = map[string]string{"=": ""}
		_, err := r.request(wire.RunRequest{Context: bad})
		r.wantCode(err, wire.CodeInvalid)

		r.must(r.run("a", "sleep 1h"))
		other := spec
		other.Language = wire.Bash
		_, err = r.request(wire.RunRequest{Context: other})
		r.wantCode(err, wire.CodeConflict)

		synctest.Wait()
		for i := range maxContexts - 1 {
			r.exit(r.must(r.run(fmt.Sprint("n", i), "x")))
		}
		_, err = r.run("one-more", "x")
		r.wantCode(err, wire.CodeExhausted)
		infos := r.set.List()
		if len(infos) != maxContexts || infos[0].ID != "a" || infos[1].ID != "n0" {
			r.Errorf("%d contexts, not in order", len(infos))
		}
	})
}

func TestRun_boundsTheQueue(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.execs = execution.NewRegistry(execution.Options{})
		spec := wire.ContextSpec{ID: "a", Language: wire.Python, Dir: "/"}
		queue := func(id string) error {
			other := execution.NewRegistry(execution.Options{}) // more than one may run at once
			x, err := other.New(id, execution.Cell, wire.Output{})
			if err != nil {
				r.Fatal(err)
			}
			return r.set.Run(x, wire.RunRequest{Context: spec, Code: "sleep 1h"})
		}
		if err := queue("first"); err != nil {
			r.Fatal(err)
		}
		synctest.Wait()
		for i := range maxQueue {
			if err := queue(fmt.Sprint("n", i)); err != nil {
				r.Fatal(err)
			}
		}
		r.wantCode(queue("one-more"), wire.CodeExhausted)
	})
}

func TestClose_endsEverything(t *testing.T) {
	inBubble(t, func(r *rig) {
		running := r.must(r.run("a", "sleep 1h"))
		waiting := r.must(r.run("a", "x"))
		synctest.Wait()
		r.set.Close()
		r.wantStatus(running, wire.StatusCanceled)
		r.wantStatus(waiting, wire.StatusCanceled)
		_, err := r.run("a", "x")
		r.wantCode(err, wire.CodeUnavailable)
	})
}
