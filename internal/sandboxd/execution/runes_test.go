package execution

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"sandgate/sandboxclient/wire"
)

// However text is cut into writes, no event cuts a rune, and nothing is lost;
// bytes that are no text come through as they are.
func TestEmit_cutsNoRune(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		valid := rapid.Bool().Draw(t, "valid")
		var text []byte
		if valid {
			text = []byte(strings.Repeat(rapid.StringMatching(`[a☕é😀]{1,8}`).Draw(t, "text"), rapid.IntRange(1, 8000).Draw(t, "times")))
		} else {
			text = rapid.SliceOfN(rapid.Byte(), 1, 300).Draw(t, "bytes")
		}
		r := NewRegistry(Options{})
		x, err := r.New("x", Exec, wire.Output{})
		if err != nil {
			t.Fatal(err)
		}
		for rest := text; len(rest) > 0; {
			n := rapid.IntRange(1, max(1, len(rest)/2)).Draw(t, "n")
			x.Emit(wire.Event{Type: wire.EventStdout, Data: rest[:n]})
			rest = rest[n:]
		}
		x.Complete(wire.Exit{Status: wire.StatusExited})
		var got []byte
		for _, e := range eventsOf(t, x) {
			if valid && !utf8.Valid(e.Data) {
				t.Fatalf("event %d cuts a rune: %q", e.Seq, e.Data)
			}
			got = append(got, e.Data...)
		}
		if !bytes.Equal(got, text) {
			t.Fatalf("%d bytes became %d", len(text), len(got))
		}
		r.Close()
	})
}

// A rune that is never completed is told at the end, and none is invented
// where output is cut.
func TestEmit_halfRunes(t *testing.T) {
	r := NewRegistry(Options{})
	x, _ := r.New("half", Exec, wire.Output{})
	x.Emit(wire.Event{Type: wire.EventStdout, Data: []byte("caf\xc3")})
	x.Complete(wire.Exit{Status: wire.StatusExited})
	if got := eventsOf(t, x); len(got) != 2 || string(got[0].Data) != "caf\xc3" {
		t.Errorf("%+v", got)
	}
	y, _ := r.New("cut", Exec, wire.Output{Keep: 4})
	y.Emit(wire.Event{Type: wire.EventStdout, Data: []byte("ab☕c")})
	y.Complete(wire.Exit{Status: wire.StatusExited})
	if got := eventsOf(t, y); string(got[0].Data) != "ab" || got[1].Type != wire.EventWarning || !got[2].Exit.Truncated {
		t.Errorf("%+v", got)
	}
	r.Close()
}

// eventsOf reads an execution that has ended.
func eventsOf(t interface{ Fatal(...any) }, x *Execution) []wire.Event {
	var stream bytes.Buffer
	for reader := x.Follow(0); ; {
		frames, err := reader.Next(x.Context())
		if err != nil {
			break
		}
		stream.Write(frames)
	}
	var events []wire.Event
	for decoder := wire.NewEventReader(&stream, 0); ; {
		e, err := decoder.Next()
		if err != nil {
			return events
		}
		events = append(events, e)
	}
}
