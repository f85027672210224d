package sandboxclient

import "sandgate/sandboxclient/wire"

// bounded is output kept up to a limit. sandboxd keeps to the same one, and is
// not trusted to.
type bounded struct {
	data []byte
	left *int64 // shared by all of an execution's output
	cut  bool
}

func (b *bounded) add(data []byte) {
	n := min(int64(len(data)), *b.left)
	*b.left -= n
	b.data = append(b.data, data[:n]...)
	b.cut = b.cut || n < int64(len(data))
}

// transcript is what an execution's events add up to.
type transcript struct {
	stdout, stderr bounded
	results        []Result
	resultRoom     int64
	start          wire.Start
	background     bool
	gap            bool // some of it was not kept for us
	exit           Exit
}

const maxResults = 32 << 20 // bytes of all results of one cell

func newTranscript(keep int64) *transcript {
	t := &transcript{resultRoom: maxResults}
	t.stdout.left, t.stderr.left = &keep, &keep
	return t
}

func (t *transcript) take(e Event) {
	t.background = t.background || e.Background
	switch e.Type {
	case wire.EventStart:
		t.start = *e.Start
	case wire.EventStdout:
		t.stdout.add(e.Data)
	case wire.EventStderr:
		t.stderr.add(e.Data)
	case wire.EventResult:
		t.addResult(*e.Result)
	case wire.EventGap:
		t.gap = true
	case wire.EventComplete:
		t.exit = *e.Exit
		t.exit.Truncated = t.exit.Truncated || t.stdout.cut || t.stderr.cut || t.gap || t.resultRoom < 0
	}
}

func (t *transcript) addResult(r Result) {
	t.resultRoom -= r.Size()
	if t.resultRoom >= 0 {
		t.results = append(t.results, r)
	}
}

// limits gives an execution's output limits: the client's, unless asked otherwise.
func (c *Client) limits(keep, maximum int64) wire.Output {
	return wire.Output{Keep: orDefault(keep, c.opts.Output.Keep), Max: orDefault(maximum, c.opts.Output.Max)}
}
