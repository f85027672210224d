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

// work is a backup or a restore, which tells how far it has come.
type work func(context.Context, backups.Progress) (any, error)

// An ending is what came of some work.
type ending struct {
	did any
	err error
}

// follow answers with the progress of some work as events. What fails before
// there was any is a proper answer. Who leaves ends the work.
func follow(c echo.Context, result string, do work) error {
	return sse.Messages(c, func(ctx context.Context) iter.Seq2[sse.Message, error] {
		return func(yield func(sse.Message, error) bool) { tell(ctx, result, do, yield) }
	})
}

func tell(ctx context.Context, result string, do work, yield func(sse.Message, error) bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	events, end := begin(ctx, do)
	seq := int64(0)
	for e := range events {
		if seq++; !yield(message(seq, e)) {
			cancel()
			<-end
			return
		}
	}
	came := <-end
	if came.err != nil && seq == 0 {
		yield(sse.Message{}, came.err)
		return
	}
	yield(message(seq+1, conclusion(result, came)))
}

// begin starts some work, which ends with ctx at the latest. Its progress comes
// first, then its end.
func begin(ctx context.Context, do work) (<-chan event, <-chan ending) {
	events, end := make(chan event), make(chan ending, 1)
	go func() {
		did, err := do(ctx, func(done, of int64) {
			select {
			case events <- event{Type: "progress", Bytes: done, Of: of}:
			case <-ctx.Done():
			}
		})
		end <- ending{did, err}
		close(events)
	}()
	return events, end
}

// conclusion is the last event.
func conclusion(result string, came ending) event {
	if came.err != nil {
		e, ok := errors.AsType[*sandboxclient.Error](came.err)
		if !ok || e.Code == sandboxclient.CodeInternal {
			return event{Type: "error", Code: sandboxclient.CodeInternal, Message: "Something went wrong on our side"}
		}
		return event{Type: "error", Code: e.Code, Message: e.Message}
	}
	if result == "backup" {
		return event{Type: "complete", Backup: came.did}
	}
	return event{Type: "complete", Restored: came.did}
}

func message(seq int64, e event) (sse.Message, error) {
	e.Timestamp = time.Now().UTC()
	data, err := json.Marshal(e)
	return sse.Message{Seq: seq, Data: string(data)}, err
}
