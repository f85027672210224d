// Package sse answers with numbered events as Server-Sent Events: those of an
// execution, or those of a run, which are encoded already.
//
// Each event is one message without an event field, so that a browser's
// EventSource.onmessage sees it: `id:` is the event's number, `data:` one line
// of JSON ([Event], for executions). A comment keeps quiet streams open. After the terminal
// event the stream ends; one that ends without it broke, and is resumed with
// Last-Event-ID or ?after=.
package sse

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	gosse "github.com/tmaxmax/go-sse"

	"sandgate/internal/httpapi"
	"sandgate/sandboxclient"
)

const (
	// heartbeat is the longest silence; proxies cut streams that are quiet for
	// a minute or two.
	heartbeat = 15 * time.Second
	// greeting is how long who only watches waits for the answer's header, which
	// clients bound. Whether there is something to watch is known by then.
	greeting = time.Second
	// ahead is how many events wait for a slow viewer; more wait in sandboxd.
	ahead = 16
)

// After gives the number of the last event that the client has seen: from
// ?after=, else from Last-Event-ID; 0 when it has seen none.
func After(c echo.Context) (int64, error) {
	text, ok := httpapi.Query(c, "after")
	if !ok {
		text = c.Request().Header.Get("Last-Event-ID")
	}
	if text == "" {
		return 0, nil
	}
	after, err := strconv.ParseInt(text, 10, 64)
	if err != nil || after < 0 {
		return 0, sandboxclient.Errorf(sandboxclient.CodeInvalid, "after and Last-Event-ID are numbers of events")
	}
	return after, nil
}

// A Message is an event, encoded.
type Message struct {
	Seq  int64  // the event's number
	Data string // one line of JSON
}

// Stream answers with the events of an execution, as Messages does.
func Stream(c echo.Context, source func(context.Context) iter.Seq2[sandboxclient.Event, error]) error {
	return Messages(c, func(ctx context.Context) iter.Seq2[Message, error] {
		return func(yield func(Message, error) bool) {
			for e, err := range source(ctx) {
				if !yield(newMessage(e, err)) {
					return
				}
			}
		}
	})
}

func newMessage(e sandboxclient.Event, err error) (Message, error) {
	if err != nil {
		return Message{}, err
	}
	data, err := encode(NewEvent(e))
	return Message{e.Seq, data}, err
}

// Messages answers with the events that source gives. An error before the first
// one is returned, for a proper answer. source is given a context that ends
// when the viewer leaves or does not read.
func Messages(c echo.Context, source func(context.Context) iter.Seq2[Message, error]) error {
	ctx, leave := context.WithCancel(c.Request().Context())
	events, left := make(chan item, ahead), make(chan struct{})
	go produce(ctx, source, events, left) // ends with ctx or left, and closes events
	defer func() {
		leave()
		close(left)
		for range events { // the source has let go when it is closed
		}
	}()
	w := &writer{response: c.Response(), control: http.NewResponseController(c.Response()), patience: heartbeat}
	if c.Request().Method == http.MethodGet {
		w.patience = greeting
	}
	return w.copy(ctx, events)
}

// An item is what a source gives.
type item struct {
	message Message
	err     error
}

// produce passes events on. The end of ctx does not stop it: the source has a
// last word, and the viewer may still be there to read it.
func produce(ctx context.Context, source func(context.Context) iter.Seq2[Message, error], events chan<- item, left <-chan struct{}) {
	defer close(events)
	for m, err := range source(ctx) {
		select {
		case events <- item{m, err}:
		case <-left:
			return
		}
	}
}

// A writer writes messages to one viewer.
type writer struct {
	response *echo.Response
	control  *http.ResponseController
	begun    bool
	patience time.Duration // until the first comment
}

// copy writes what comes until it ends, and comments in between.
func (w *writer) copy(ctx context.Context, events <-chan item) error {
	beat := time.NewTicker(w.patience)
	defer beat.Stop()
	for {
		select {
		case next, more := <-events:
			if !more {
				return w.finish(ctx)
			}
			if err := w.write(next, events); err != nil {
				return err
			}
		case <-beat.C:
			beat.Reset(heartbeat)
			if err := w.comment(); err != nil {
				return err
			}
		}
	}
}

// finish ends a stream whose source gave no more. One that gave nothing has
// nothing to give any more: 204 tells a browser's EventSource not to come back.
func (w *writer) finish(ctx context.Context) error {
	if w.begun {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	w.response.WriteHeader(http.StatusNoContent)
	return nil
}

// write writes one item and all that wait behind it, then flushes once.
func (w *writer) write(next item, events <-chan item) error {
	for {
		if next.err != nil {
			return next.err
		}
		if err := w.message(next.message); err != nil {
			return err
		}
		select {
		case more, ok := <-events:
			if ok {
				next = more
				continue
			}
		default:
		}
		return w.control.Flush()
	}
}

func (w *writer) message(message Message) error {
	w.begin()
	m := gosse.Message{ID: gosse.ID(strconv.FormatInt(message.Seq, 10))}
	m.AppendData(message.Data)
	_, err := m.WriteTo(w.response)
	return err
}

// encode gives one line of JSON.
func encode(e Event) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(e)
	return strings.TrimSuffix(b.String(), "\n"), err
}

func (w *writer) comment() error {
	w.begin()
	var m gosse.Message
	m.AppendComment("still here")
	if _, err := m.WriteTo(w.response); err != nil {
		return err
	}
	return w.control.Flush()
}

// begin writes the header before the first message.
func (w *writer) begin() {
	if w.begun {
		return
	}
	w.begun = true
	h := w.response.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no") // nginx would hold it back
	w.response.WriteHeader(http.StatusOK)
}
