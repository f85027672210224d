package execution

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sandgate/sandboxclient/wire"
)

var exited = wire.Exit{Status: wire.StatusExited}

func follow(t testing.TB, r *Registry, id string) *Reader {
	t.Helper()
	reader, err := r.Follow(id, 0)
	if err != nil {
		t.Fatal(err)
	}
	return reader
}

// wantWhole reads an execution that printed text and ended.
func wantWhole(t testing.TB, r *Reader, want string) {
	t.Helper()
	events := drain(t, r)
	if len(events) == 0 || !events[len(events)-1].Terminal() || text(events, wire.EventStdout) != want {
		t.Errorf("%d events with %d bytes are read, want %d bytes and the end", len(events), len(text(events, wire.EventStdout)), len(want))
	}
}

// ends reads what is there, without a look at each event, and says whether that
// is all up to the end.
func ends(t testing.TB, r *Reader) (ended bool) {
	t.Helper()
	for !r.AtEnd() {
		frames, err := r.Next(t.Context())
		if err != nil {
			return false
		}
		ended = bytes.Contains(frames, []byte(`"type":"complete"`))
	}
	return ended
}

// flood lets so many executions print that the budget is used up, and go on.
func flood(t testing.TB, r *Registry) {
	t.Helper()
	for i := range r.budget.limit>>20 + 2 {
		begin(t, r, fmt.Sprint("flood", i), wire.Output{Keep: 2 << 20}).Emit(stdout(strings.Repeat("f", 3<<20/2)))
	}
}

// Who reads slowly reads all the same to the end: whatever forgets an ended
// execution lets go of it only when its reader has left.
func TestFollow_outlastsWhatIsForgotten(t *testing.T) {
	for name, forget := range map[string]func(t *testing.T, r *Registry){
		"others end": func(t *testing.T, r *Registry) {
			for i := range maxEnded {
				begin(t, r, fmt.Sprint("n", i), wire.Output{}).Complete(exited)
			}
		},
		"it is old":             func(*testing.T, *Registry) { time.Sleep(keepEnded) },
		"the budget is used up": func(t *testing.T, r *Registry) { flood(t, r) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := NewRegistry(Options{})
				r.budget.limit = 8 << 20
				const printed = "what it printed"
				x := begin(t, r, "slow", wire.Output{})
				x.Emit(stdout(printed))
				x.Complete(exited)
				reader, other := follow(t, r, "slow"), follow(t, r, "slow")
				forget(t, r)
				synctest.Wait()
				if _, err := r.Follow("slow", 0); err == nil {
					t.Fatal("it is not forgotten")
				}
				other.Close()
				other.Close()
				wantWhole(t, reader, printed)
				if x.log.size == 0 {
					t.Error("it is let go under its reader")
				}
				before := r.budget.logs.Load()
				reader.Close()
				if x.log.size != 0 || r.budget.logs.Load() != before-1 {
					t.Errorf("%d bytes are held for nobody, by %d logs", x.log.size, r.budget.logs.Load())
				}
				time.Sleep(keepEnded) // the timers' end
			})
		})
	}
}

// A reader that stands still holds no more than a fair share for ever.
func TestFollow_holdsAFairShare(t *testing.T) {
	r := NewRegistry(Options{})
	r.budget.limit = 8 << 20
	readers := make(map[string]*Reader)
	for i := range 10 {
		id := fmt.Sprint("slow", i)
		x := begin(t, r, id, wire.Output{Keep: 4 << 20})
		readers[id] = follow(t, r, id)
		x.Emit(stdout(strings.Repeat("x", 4<<20)))
		x.Complete(exited)
	}
	begin(t, r, "one-more", wire.Output{}).Emit(stdout("x"))
	if used := r.budget.used.Load(); used > 11*(minShare+2*wire.MaxChunk) {
		t.Errorf("%d bytes are held", used)
	}
	for id, reader := range readers {
		if !ends(t, reader) {
			t.Errorf("%s: the end was lost", id)
		}
		reader.Close()
	}
}

// What prints little loses nothing to those that print much.
func TestEmit_losesNothingToOthers(t *testing.T) {
	r := NewRegistry(Options{})
	r.budget.limit = 8 << 20
	quiet := begin(t, r, "quiet", wire.Output{})
	quiet.Emit(stdout("first\n"))
	flood(t, r)
	if !r.budget.over() {
		t.Fatal("there is no flood")
	}
	for range 10 {
		quiet.Emit(wire.Event{Type: wire.EventStderr, Data: []byte("between\n")})
		quiet.Emit(stdout("more\n"))
	}
	quiet.Complete(exited)
	wantWhole(t, quiet.Follow(0), "first\n"+strings.Repeat("more\n", 10))
}

// Alone, an execution holds all that it was asked to keep, if memory has room.
func TestEmit_holdsWhatIsToBeKept(t *testing.T) {
	r := NewRegistry(Options{})
	const keep = someMemory - 4<<20
	x := begin(t, r, "x", wire.Output{Keep: keep})
	line := strings.Repeat("x", wire.MaxChunk)
	for range keep / wire.MaxChunk {
		x.Emit(stdout(line))
	}
	x.Complete(exited)
	if info := x.Info(); info.FirstSeq != 1 || x.log.size < keep {
		t.Errorf("kept from %d on, %d bytes", info.FirstSeq, x.log.size)
	}
}

func TestBudget(t *testing.T) {
	for memory, limit := range map[int64]int64{
		0: 32 << 20, 64 << 20: 4 << 20, 1 << 30: 32 << 20, 100 << 30: 64 << 20,
	} {
		if b := newBudget(memory); b.limit != limit || b.share() < minShare {
			t.Errorf("of %d bytes, %d", memory, b.limit)
		}
	}
}
