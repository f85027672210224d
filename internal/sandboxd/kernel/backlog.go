package kernel

import "sandgate/sandboxclient/wire"

// maxBacklog bounds what is kept of the output between two cells.
const maxBacklog = 64 << 10

// codeOutputDropped warns that leftovers printed more than is kept.
const codeOutputDropped = "background_output_dropped"

// A backlog keeps the latest output in its order.
type backlog struct {
	events  []wire.Event
	size    int
	dropped bool
}

func (b *backlog) add(stream string, chunk []byte) {
	b.events = append(b.events, wire.Event{Type: stream, Data: chunk, Background: true})
	b.size += len(chunk)
	for b.size > maxBacklog {
		b.dropOldest(b.size - maxBacklog)
	}
}

func (b *backlog) dropOldest(excess int) {
	b.dropped = true
	oldest := &b.events[0]
	n := min(excess, len(oldest.Data))
	oldest.Data = oldest.Data[n:]
	b.size -= n
	if len(oldest.Data) == 0 {
		b.events = b.events[1:]
	}
}

// take gives what was kept and forgets it.
func (b *backlog) take() []wire.Event {
	events := b.events
	if b.dropped {
		events = append([]wire.Event{{
			Type:    wire.EventWarning,
			Code:    codeOutputDropped,
			Message: "programs left running printed more between two cells than is kept; the oldest is dropped",
		}}, events...)
	}
	*b = backlog{}
	return events
}
