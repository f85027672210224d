package backups

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"time"

	"github.com/labstack/echo/v4"

	"sandgate/internal/backups"
	"sandgate/internal/sse"
	"sandgate/sandboxclient"
)

// An event is what followers of a backup or restore are told: progress, then
// complete or error.
type event struct {
	Type      string             `json:"type"`
	Timestamp time.Time          `json:"timestamp"`
	Bytes     int64              `json:"bytes,omitempty"` // of the archive so far
	Of        int64              `json:"of,omitempty"`    // and in all, where that is known
	Code      sandboxclient.Code `json:"code,omitempty"`
	Message   string             `json:"message,omitempty"`
	Backup    any                `json:"backup,omitempty"`
	Restored  any                `json:"restored,omitempty"`
}

// follow answers with the progress of some work as events. What fails before
// there was any is a proper answer. Who leaves ends the work.
func follow(c echo.Context, result string, work func(context.Context, backups.Progress) (any, error)) error {
	return sse.Messages(c, func(ctx context.Context) iter.Seq2[sse.Message, error] {
		return func(yield func(sse.Message, error) bool) {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			events := make(chan event)
			end := make(chan event, 1)
			var failed error
			go func() { // ends with the work, and the work with ctx
				defer close(events)
				did, err := work(ctx, func(done, of int64) {
					select {
					case events <- event{Type: "progress", Bytes: done, Of: of}:
					case <-ctx.Done():
					}
				})
				failed = err
				end <- conclusion(result, did, err)
			}()
			seq := int64(0)
			for e := range events {
				if seq++; !yield(message(seq, e)) {
					cancel()
					for range events { // the work has let go when it is closed
					}
					return
				}
			}
			if failed != nil && seq == 0 {
				yield(sse.Message{}, failed)
				return
			}
			yield(message(seq+1, <-end))
		}
	})
}

// conclusion is the last event.
func conclusion(result string, did any, err error) event {
	if err != nil {
		e, ok := errors.AsType[*sandboxclient.Error](err)
		if !ok || e.Code == sandboxclient.CodeInternal {
			return event{Type: "error", Code: sandboxclient.CodeInternal, Message: "Something went wrong on our side"}
		}
		return event{Type: "error", Code: e.Code, Message: e.Message}
	}
	if result == "backup" {
		return event{Type: "complete", Backup: did}
	}
	return event{Type: "complete", Restored: did}
}

func message(seq int64, e event) (sse.Message, error) {
	e.Timestamp = time.Now().UTC()
	data, err := json.Marshal(e)
	return sse.Message{Seq: seq, Data: string(data)}, err
}
