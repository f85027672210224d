package execution

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"sandgate/sandboxclient/wire"
)

func begin(t testing.TB, r *Registry, id string, out wire.Output) *Execution {
	t.Helper()
	x, err := r.New(id, Exec, out)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func wantCode(t testing.TB, err error, code string) {
	t.Helper()
	e, ok := errors.AsType[*wire.Error](err)
	if !ok || e.Code != code {
		t.Errorf("got %v, want %s", err, code)
	}
}

// What is kept is exactly the beginning of what was written, to the rune; what
// is beyond the bound is told once, and the end says so.
func TestEmit_cutsAtTheBound(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		keep := rapid.Int64Range(1, 5000).Draw(rt, "keep")
		r, _ := newSmall() // and smaller still: most of it goes to the disk
		r.budget.limit, r.budget.least = rapid.Int64Range(1, 5000).Draw(rt, "memory"), 0
		r.disk.block = rapid.Int64Range(1, 5000).Draw(rt, "block")
		x := begin(t, r, "x", wire.Output{Keep: keep})
		var written strings.Builder
		for range rapid.IntRange(0, 20).Draw(rt, "writes") {
			data := rapid.SliceOfN(rapid.Byte(), 1, 1000).Draw(rt, "data")
			x.Emit(wire.Event{Type: wire.EventStdout, Data: data})
			written.Write(data)
		}
		x.Complete(wire.Exit{Status: wire.StatusExited})
		events := drain(t, x.Follow(0))
		want := written.String()
		cut := int64(len(want)) > keep
		if cut {
			want = want[:keep-int64(half([]byte(want[:keep])))] // no rune is cut
		}
		if got := text(events, wire.EventStdout); got != want {
			rt.Fatalf("got %d bytes, want %d", len(got), len(want))
		}
		warnings := 0
		for _, e := range events {
			if e.Type == wire.EventWarning {
				warnings++
			}
		}
		exit := events[len(events)-1].Exit
		if exit == nil || exit.Truncated != cut || (warnings == 1) != cut || warnings > 1 {
			rt.Fatalf("cut %v: %d warnings, exit %+v", cut, warnings, exit)
		}
	})
}

func TestEmit_splitsLargeOutputAndStampsIt(t *testing.T) {
	x := begin(t, NewRegistry(Options{}), "x", wire.Output{})
	data := strings.Repeat("0123456789", 10*wire.MaxChunk/10+1)
	x.Emit(stdout(data))
	events := drain(t, x.Follow(0))
	for _, e := range events {
		if len(e.Data) > wire.MaxChunk || e.Time.IsZero() || e.Time.Location() != time.UTC {
			t.Errorf("%d bytes at %v", len(e.Data), e.Time)
		}
	}
	if text(events, wire.EventStdout) != data {
		t.Error("it comes back different")
	}
}

func TestEmit_dropsResultsBeyondTheBound(t *testing.T) {
	x := begin(t, NewRegistry(Options{}), "x", wire.Output{Keep: 150})
	result := wire.Event{Type: wire.EventResult, Result: &wire.Result{Text: "x", PNG: strings.Repeat("p", 50), JSON: json.RawMessage("[1]")}}
	x.Emit(result)
	x.Emit(result)
	x.Emit(stdout("also too late"))
	x.Complete(wire.Exit{Status: wire.StatusExited})
	var types []string
	for _, e := range drain(t, x.Follow(0)) {
		types = append(types, e.Type)
	}
	if got := strings.Join(types, " "); got != "result warning complete" {
		t.Errorf("got %s", got)
	}
}

func TestEmit_endsWhatPrintsTooMuch(t *testing.T) {
	x := begin(t, NewRegistry(Options{}), "x", wire.Output{Keep: 10, Max: 1000})
	for range 10 {
		x.Emit(stdout(strings.Repeat("x", 100)))
	}
	if x.Context().Err() != nil {
		t.Fatal("it is ended at the bound, not beyond it")
	}
	x.Emit(stdout("x"))
	if status, ok := Cause(x.Context()); !ok || status != wire.StatusOutputLimited {
		t.Errorf("cause %v", context.Cause(x.Context()))
	}
}

func TestExecution_endsOnce(t *testing.T) {
	r := NewRegistry(Options{})
	x := begin(t, r, "x", wire.Output{})
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() { x.Complete(wire.Exit{Status: wire.StatusExited, ExitCode: i}) })
		wg.Go(func() { x.Fail(&wire.Error{Code: wire.CodeInternal}) })
		wg.Go(func() { x.Emit(stdout("x")) })
	}
	wg.Wait()
	terminals := 0
	events := drain(t, x.Follow(0))
	for _, e := range events {
		if e.Terminal() {
			terminals++
		}
	}
	if terminals != 1 || !events[len(events)-1].Terminal() || r.Busy() != 0 {
		t.Errorf("%d terminal events, %d busy", terminals, r.Busy())
	}
	info := x.Info()
	if (info.Exit == nil) == (info.Error == nil) || info.LastSeq != events[len(events)-1].Seq {
		t.Errorf("told as %+v", info)
	}
}

func TestRegistry_refusals(t *testing.T) {
	r := NewRegistry(Options{})
	for _, id := range []string{"", "a b", "a/b", "ü", "a\x00", strings.Repeat("x", 129)} {
		_, err := r.New(id, Exec, wire.Output{})
		wantCode(t, err, wire.CodeInvalid)
	}
	x := begin(t, r, "x", wire.Output{})
	_, err := r.New("x", Cell, wire.Output{})
	wantCode(t, err, wire.CodeConflict)
	x.Complete(wire.Exit{Status: wire.StatusExited})
	_, err = r.New("x", Exec, wire.Output{})
	wantCode(t, err, wire.CodeConflict)
	_, err = r.Get("y")
	wantCode(t, err, wire.CodeNotFound)

	for i := range maxRunning {
		begin(t, r, fmt.Sprint("n", i), wire.Output{})
	}
	_, err = r.New("one-more", Exec, wire.Output{})
	wantCode(t, err, wire.CodeExhausted)
	n0, err := r.Get("n0")
	if err != nil {
		t.Fatal(err)
	}
	r.Discard(n0)
	if _, err = r.Get("n0"); err == nil {
		t.Error("a discarded execution is there")
	}
	begin(t, r, "n0", wire.Output{})

	r.Close()
	if status, _ := Cause(n0.Context()); status != "" {
		t.Errorf("a discarded one is ended as %s", status)
	}
	n1, err := r.Get("n1")
	if err != nil {
		t.Fatal(err)
	}
	if status, _ := Cause(n1.Context()); status != wire.StatusCanceled {
		t.Errorf("at the end: %v", context.Cause(n1.Context()))
	}
	_, err = r.New("late", Exec, wire.Output{})
	wantCode(t, err, wire.CodeUnavailable)
}

func TestRegistry_keepsTheEndedForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewRegistry(Options{})
		running := begin(t, r, "running", wire.Output{})
		for i := range maxEnded + 10 {
			begin(t, r, fmt.Sprint("n", i), wire.Output{}).Complete(wire.Exit{Status: wire.StatusExited})
		}
		for i := range maxEnded + 10 {
			_, err := r.Get(fmt.Sprint("n", i))
			if kept := i >= 10; (err == nil) != kept {
				t.Errorf("n%d: %v, kept should be %v", i, err, kept)
			}
		}
		time.Sleep(keepEnded - time.Second)
		if _, err := r.Get("n20"); err != nil {
			t.Error("gone too early")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		_, err := r.Get("n20")
		wantCode(t, err, wire.CodeNotFound)
		if _, err := r.Get("running"); err != nil {
			t.Error("what runs is gone")
		}
		running.Complete(wire.Exit{Status: wire.StatusExited})
		time.Sleep(keepEnded)
		synctest.Wait()
		if used := r.budget.used.Load(); used != 0 || len(r.byID) != 0 {
			t.Errorf("%d bytes and %d executions are still held", used, len(r.byID))
		}
	})
}

func TestRegistry_boundsWhatAllKeepTogether(t *testing.T) {
	r := NewRegistry(Options{})
	r.budget.limit = 4 << 20
	output := wire.Output{Keep: 2 << 20}
	for i := range 5 {
		x := begin(t, r, fmt.Sprint("ended", i), output)
		x.Emit(stdout(strings.Repeat("x", 1_200_000)))
		x.Complete(wire.Exit{Status: wire.StatusExited})
	}
	if _, err := r.Get("ended0"); err == nil {
		t.Error("the oldest is still there")
	}
	if _, err := r.Get("ended4"); err != nil {
		t.Error("the newest is gone")
	}
	var running []*Execution
	for i := range 10 {
		x := begin(t, r, fmt.Sprint("running", i), output)
		x.Emit(stdout(strings.Repeat("x", 2_000_000)))
		running = append(running, x)
	}
	if used := r.budget.used.Load(); used > r.budget.limit+int64(len(running))*(minShare+2*wire.MaxChunk) {
		t.Errorf("%d bytes are held", used)
	}
	for _, x := range running {
		x.Complete(wire.Exit{Status: wire.StatusExited})
		if !ends(t, x.Follow(0)) {
			t.Error("an end was lost")
		}
	}
}
