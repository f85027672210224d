package execution

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"sandgate/sandboxclient/wire"
)

// smallBudget is one of which a single log may have all.
func smallBudget(limit int64) *budget { return &budget{limit: limit} }

func testLog(limit int64) *Log {
	return newLog(smallBudget(limit), nil)
}

func stdout(text string) wire.Event {
	return wire.Event{Type: wire.EventStdout, Data: []byte(text)}
}

var complete = wire.Event{Type: wire.EventComplete, Exit: &wire.Exit{Status: wire.StatusExited}}

// drain reads what is there, decoded as the gateway does.
func drain(t testing.TB, r *Reader) []wire.Event {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var events []wire.Event
	for {
		after := r.last
		frames, err := r.Next(ctx)
		if err != nil {
			return events
		}
		events = append(events, decode(t, frames, after)...)
	}
}

// readOnce reads what is given at once, of what is there.
func readOnce(t testing.TB, r *Reader) []wire.Event {
	t.Helper()
	after := r.last
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	frames, err := r.Next(ctx)
	if err != nil {
		return nil
	}
	return decode(t, frames, after)
}

func decode(t testing.TB, frames []byte, after int64) []wire.Event {
	t.Helper()
	var events []wire.Event
	decoder := wire.NewEventReader(bytes.NewReader(frames), after)
	for {
		e, err := decoder.Next()
		if errors.Is(err, io.EOF) || errors.Is(err, wire.ErrUnterminated) {
			return events
		}
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
}

func text(events []wire.Event, stream string) string {
	var b strings.Builder
	for _, e := range events {
		if e.Type == stream {
			b.Write(e.Data)
		}
	}
	return b.String()
}

// Whatever is written in whatever pieces, every reader sees each stream whole
// and in order, or a gap that says exactly what it missed; and numbers without
// a hole.
func TestLog_readersSeeAllOrTheGap(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		limit := rapid.Int64Range(1, 20_000).Draw(rt, "limit")
		l := testLog(limit)
		readers := make([]*Reader, rapid.IntRange(1, 5).Draw(rt, "readers"))
		seen := make([][]wire.Event, len(readers))
		for i := range readers {
			readers[i] = l.follow(0)
		}
		var written = map[string]string{}
		for range rapid.IntRange(0, 60).Draw(rt, "steps") {
			stream := rapid.SampledFrom([]string{wire.EventStdout, wire.EventStderr}).Draw(rt, "stream")
			data := rapid.SliceOfN(rapid.Byte(), 1, 3000).Draw(rt, "data")
			l.append(wire.Event{Type: stream, Data: data})
			written[stream] += string(data)
			clear(data) // the log must not have kept it
			if i := rapid.IntRange(-1, len(readers)-1).Draw(rt, "reads"); i >= 0 {
				seen[i] = append(seen[i], drain(t, readers[i])...)
			}
		}
		l.append(complete)
		for i, r := range readers {
			seen[i] = append(seen[i], drain(t, r)...)
			checkSequence(rt, seen[i])
			checkContent(rt, seen[i], written)
			if last := seen[i][len(seen[i])-1]; !last.Terminal() {
				rt.Fatalf("reader %d ends with %s", i, last.Type)
			}
			if _, err := r.Next(t.Context()); !errors.Is(err, io.EOF) {
				rt.Fatalf("after the end: %v", err)
			}
		}
		if l.size > max(limit, recordOverhead+wire.MaxChunk*2) || l.budget.used.Load() != l.size {
			rt.Fatalf("keeps %d bytes of %d, %d in the budget", l.size, limit, l.budget.used.Load())
		}
	})
}

func checkSequence(t *rapid.T, events []wire.Event) {
	last := int64(0)
	for _, e := range events {
		first := e.Seq
		if e.Gap != nil {
			first = e.Gap.From
		}
		if first != last+1 || e.Gap != nil && e.Gap.To != e.Seq {
			t.Fatalf("event %d (%s %+v) after %d", e.Seq, e.Type, e.Gap, last)
		}
		last = e.Seq
	}
}

func checkContent(t *rapid.T, events []wire.Event, written map[string]string) {
	var total, got, missed int64
	gaps := false
	for stream, want := range written {
		total += int64(len(want))
		got += int64(len(text(events, stream)))
		for _, e := range events {
			if e.Type == stream && !strings.Contains(want, string(e.Data)) {
				t.Fatalf("%q was never written", e.Data)
			}
		}
	}
	for _, e := range events {
		if e.Gap != nil {
			missed += e.Gap.Bytes
			gaps = true
		}
	}
	if got+missed != total {
		t.Fatalf("%d bytes written, %d read, %d told as missed", total, got, missed)
	}
	for stream, want := range written {
		if !gaps && text(events, stream) != want {
			t.Fatalf("%s: got %q, want %q", stream, text(events, stream), want)
		}
	}
}

func TestLog_resumesBehindAnyEvent(t *testing.T) {
	l := testLog(1 << 20)
	live := l.follow(0)
	for i := range 50 {
		l.append(stdout(fmt.Sprint(i, "\n")))
		drain(t, live) // so that none are merged
	}
	l.append(complete)
	all := drain(t, l.follow(0))
	for after := range int64(len(all) + 1) {
		got := drain(t, l.follow(after))
		if len(got) != len(all)-int(after) {
			t.Fatalf("after %d: %d events of %d", after, len(got), len(all))
		}
		for i, e := range got {
			if want := all[int(after)+i]; e.Seq != want.Seq || string(e.Data) != string(want.Data) || !e.Time.Equal(want.Time) {
				t.Fatalf("after %d: event %+v, want %+v", after, e, want)
			}
		}
	}
}

// Who was told the number of the newest event reads on behind it, and misses
// nothing.
func TestLog_addsNothingToWhatWasTold(t *testing.T) {
	l := testLog(1 << 20)
	l.append(stdout("a"))
	_, last := l.span()
	l.append(stdout("b"))
	l.append(stdout("c"))
	if got := drain(t, l.follow(last)); len(got) != 1 || string(got[0].Data) != "bc" {
		t.Fatalf("after %d: %+v", last, got)
	}
}

func TestLog_addsToWhatNobodyHasSeen(t *testing.T) {
	l := testLog(1 << 20)
	r := l.follow(0)
	l.append(stdout("a"))
	l.append(stdout("b"))
	if got := drain(t, r); len(got) != 1 || string(got[0].Data) != "ab" {
		t.Fatalf("got %+v", got)
	}
	l.append(stdout("c"))
	l.append(wire.Event{Type: wire.EventStdout, Data: []byte("d"), Background: true})
	l.append(wire.Event{Type: wire.EventStderr, Data: []byte("e")})
	l.append(stdout("f"))
	var got []string
	for _, e := range drain(t, r) {
		got = append(got, string(e.Data))
	}
	if strings.Join(got, " ") != "c d e f" {
		t.Errorf("got %q: what differs must stay apart, what was read must stay as it was", got)
	}
	for range 100 {
		l.append(stdout(strings.Repeat("x", 1000)))
	}
	for _, e := range drain(t, r) {
		if len(e.Data) > wire.MaxChunk {
			t.Errorf("a chunk of %d bytes", len(e.Data))
		}
	}
}

func TestLog_replacesWhatNoFrameCanHold(t *testing.T) {
	l := testLog(1 << 30)
	l.append(wire.Event{Type: wire.EventResult, Result: &wire.Result{HTML: strings.Repeat("<", wire.MaxFrame/4)}})
	l.append(complete)
	got := drain(t, l.follow(0))
	if len(got) != 2 || got[0].Type != wire.EventWarning || got[0].Code != "event_dropped" {
		t.Errorf("got %d events, first %s %s", len(got), got[0].Type, got[0].Code)
	}
}

func TestLog_keepsTheEndWhateverItsBounds(t *testing.T) {
	l := newLog(smallBudget(1), nil)
	for range 10 {
		l.append(stdout("x"))
		l.append(wire.Event{Type: wire.EventStderr, Data: []byte("y")})
	}
	l.append(complete)
	l.append(stdout("after the end"))
	got := drain(t, l.follow(0))
	if len(got) != 2 || got[0].Type != wire.EventGap || got[0].Gap.Bytes != 20 || !got[1].Terminal() {
		t.Errorf("got %+v", got)
	}
}

func TestReader_waitsAndIsWokenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := testLog(1 << 20)
		got := make(chan string, 10)
		for range 5 {
			go func() {
				frames, err := l.follow(0).Next(t.Context())
				if err != nil {
					t.Error(err)
				}
				got <- text(decode(t, frames, 0), wire.EventStdout)
			}()
		}
		synctest.Wait()
		l.append(stdout("now"))
		for range 5 {
			if s := <-got; s != "now" {
				t.Errorf("got %q", s)
			}
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		go cancel(wire.StatusCanceled)
		if _, err := l.follow(1).Next(ctx); !errors.Is(err, wire.StatusCanceled) {
			t.Errorf("canceled: %v", err)
		}
	})
}

func TestReader_takesManyEventsAtOnceButNotAll(t *testing.T) {
	l := testLog(1 << 30)
	r := l.follow(0)
	const n = 1000
	for i := range n {
		l.append(wire.Event{Type: []string{wire.EventStdout, wire.EventStderr}[i%2], Data: make([]byte, 1000)})
	}
	l.append(complete)
	batches := 0
	for {
		frames, err := r.Next(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		if len(frames) > maxBatch {
			t.Errorf("a batch of %d bytes", len(frames))
		}
		batches++
	}
	if batches < 5 || batches > n/50 {
		t.Errorf("%d events in %d batches", n, batches)
	}
}
