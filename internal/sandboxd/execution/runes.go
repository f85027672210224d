package execution

import (
	"slices"
	"unicode/utf8"

	"sandgate/sandboxclient/wire"
)

// halves holds, for each stream, the beginning of a rune whose rest has not
// come yet. So no event cuts a rune, and whoever reads only some of them, or
// from the middle on, reads whole text. Bytes that are no UTF-8 pass as they are.
type halves map[stream][]byte

type stream struct {
	kind       string
	background bool
}

func isOutput(e wire.Event) bool { return e.Type == wire.EventStdout || e.Type == wire.EventStderr }

// complete gives an event's data with the half before it, less the half at its end.
func (h halves) complete(e wire.Event) []byte {
	key := stream{e.Type, e.Background}
	data := e.Data
	if half := h[key]; len(half) > 0 {
		data = slices.Concat(half, data)
	}
	whole := len(data) - half(data)
	h[key] = slices.Clone(data[whole:])
	return data[:whole]
}

// rest gives what was never completed, a stream each.
func (h halves) rest() []wire.Event {
	var events []wire.Event
	for key, data := range h {
		if len(data) > 0 {
			events = append(events, wire.Event{Type: key.kind, Background: key.background, Data: data})
		}
	}
	clear(h)
	return events
}

// half counts the bytes at the end of data that begin a rune and do not end it.
func half(data []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(data); n++ {
		last := data[len(data)-n:]
		if !utf8.RuneStart(last[0]) {
			continue
		}
		if utf8.FullRune(last) {
			return 0
		}
		return n
	}
	return 0
}
