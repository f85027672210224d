package sandboxclient

import (
	"context"
	"iter"
	"net/http"
	"time"

	"sandgate/sandboxclient/wire"
)

// endGrace is what sandboxd may need, beyond a program's own timeout, to end
// it with its whole tree and to say so.
const endGrace = 20 * time.Second

// events starts an execution and gives its events up to the terminal one. An
// error is the last thing it gives. Leaving the loop early leaves the
// execution, which then ends unless it was detached.
func (l *link) events(ctx context.Context, path string, request any) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		resp, err := l.send(ctx, http.MethodPost, path, nil, request)
		if err != nil {
			yield(Event{}, err)
			return
		}
		defer resp.Body.Close()
		reader := wire.NewEventReader(resp.Body, 0)
		for {
			e, err := reader.Next()
			if !yield(e, err) || err != nil || e.Terminal() {
				drain(resp.Body)
				return
			}
		}
	}
}

// follow runs an execution to its end and hands its events to take. A program
// is given its timeout from its own start on, and sandboxd a grace to tell;
// waiting for its turn is bounded by the ceiling of all timeouts.
func (s *Sandbox) follow(ctx context.Context, l *link, path string, request any, timeout time.Duration, take func(Event)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	overdue := &Error{Code: CodeTimeout, Message: "The sandbox did not answer in time"}
	watchdog := time.AfterFunc(s.client.opts.MaxTimeout+endGrace, func() { cancel(overdue) })
	defer watchdog.Stop()

	for e, err := range l.events(ctx, path, request) {
		switch {
		case err != nil:
			return err
		case e.Type == wire.EventError:
			return &wire.Error{Code: e.Code, Message: e.Message}
		case e.Type == wire.EventStart:
			watchdog.Reset(timeout + endGrace)
		}
		take(e)
	}
	return nil
}

// timeout applies the default and the ceiling.
func (c *Client) timeout(asked time.Duration) time.Duration {
	return min(orDefault(asked, c.opts.DefaultTimeout), c.opts.MaxTimeout)
}

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
	case wire.EventComplete:
		t.exit = *e.Exit
		t.exit.Truncated = t.exit.Truncated || t.stdout.cut || t.stderr.cut || t.resultRoom < 0
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
