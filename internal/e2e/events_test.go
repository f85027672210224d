package e2e

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	gosse "github.com/tmaxmax/go-sse"
)

// A stream is an answer's events, as one reader gets them.
type stream[E any] struct {
	location string
	events   chan E // closed at the stream's end
	leave    context.CancelFunc
}

// openStream sends a request for events and reads the answer, for so long at
// most. numbered writes an event's id into it.
func openStream[E any](t *testing.T, patience time.Duration, numbered func(*E, string), method, target, body string, header ...string) stream[E] {
	t.Helper()
	ctx, leave := context.WithTimeout(t.Context(), patience)
	t.Cleanup(leave)
	req, err := http.NewRequestWithContext(ctx, method, target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		t.Fatalf("%s %s: %s", method, target, resp.Status)
	}
	s := stream[E]{location: resp.Header.Get("Location"), events: make(chan E, 1), leave: leave}
	go s.read(ctx, resp, numbered) // ends with the stream, or with the test's context
	return s
}

func (s stream[E]) read(ctx context.Context, resp *http.Response, numbered func(*E, string)) {
	defer close(s.events)
	defer resp.Body.Close()
	for e, err := range gosse.Read(resp.Body, &gosse.ReadConfig{MaxEventSize: 2 << 20}) {
		var got E
		if err != nil {
			return
		}
		numbered(&got, e.LastEventID)
		if json.Unmarshal([]byte(e.Data), &got) != nil {
			return
		}
		select {
		case s.events <- got:
		case <-ctx.Done():
			return
		}
	}
}
