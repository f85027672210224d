package runs

import (
	"time"

	"sandgate/sandboxclient"
)

// Codes of warnings that there is less output than was printed.
const (
	outputTruncated = "output_truncated" // the sandbox's own word as well
	outputLost      = "output_lost"
)

// room is how many bytes of output the log still keeps.
func (r *run) room() int64 { return max(r.engine.opts.Keep-r.printed, 0) }

// logWords is the room in a log for what is not output.
const logWords = 16 << 20

// full says whether the log has grown far beyond the output in it: output that
// comes byte by byte, and warnings without end, are mostly words of ours.
func (r *run) full() bool { return r.events.Size() > 4*r.engine.opts.Keep+logWords }

// print adds output to the log, as long as there is room for it.
func (r *run) print(source int64, e sandboxclient.Event) error {
	if int64(len(e.Data)) > r.room() || r.full() {
		return r.tellTruncated(source)
	}
	r.printed += int64(len(e.Data))
	return r.note(source, outputEvent{newHead(e.Type, r.when(e.Time)), sandboxclient.Text(e.Data)})
}

// tellTruncated tells once that output is dropped from here on.
func (r *run) tellTruncated(source int64) error {
	r.printed = r.engine.opts.Keep
	if r.toldTruncated {
		return nil
	}
	r.toldTruncated = true
	r.truncate()
	return r.warn(source, outputTruncated, "The output is longer than what is kept; the rest of it is dropped")
}

func (r *run) truncate() { r.change(func(s *Summary) { s.Truncated = true }) }

// when takes a time that the sandbox told, if it can be true.
func (r *run) when(at time.Time) time.Time {
	latest := now()
	if at.After(latest) || at.Before(r.summary.CreatedAt) {
		return latest
	}
	return at
}
