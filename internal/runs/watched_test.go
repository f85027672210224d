package runs

import (
	"context"
	"strings"

	"sandgate/sandboxclient/wire"
)

// watched is all that a viewer reads of a run, from a number on.
type watched struct {
	seqs  []int64
	lines []told
	err   error
}

func watchFrom(ctx context.Context, e *Engine, id string, after int64) watched {
	var w watched
	for line, err := range e.Events(ctx, owner, id, after) {
		if err != nil {
			w.err = err
			return w
		}
		event, err := decode(line.Event)
		if err != nil {
			w.err = err
			return w
		}
		w.seqs, w.lines = append(w.seqs, line.Seq), append(w.lines, event)
	}
	return w
}

// output is what the programs printed, as viewers read it.
func (w watched) output() string {
	var b strings.Builder
	for _, e := range w.lines {
		b.WriteString(e.Data)
	}
	return b.String()
}

// types are the events in short: their types, and of phases the names.
func (w watched) types() []string {
	var all []string
	for _, e := range w.lines {
		switch e.Type {
		case eventPhase:
			all = append(all, e.Phase+" "+e.State)
		case wire.EventWarning:
			all = append(all, "warning "+string(e.Code))
		default:
			all = append(all, e.Type)
		}
	}
	return all
}

// last is the terminal event.
func (w watched) last() told {
	if len(w.lines) == 0 {
		return told{}
	}
	return w.lines[len(w.lines)-1]
}
