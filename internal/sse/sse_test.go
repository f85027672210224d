package sse

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/labstack/echo/v4"
	gosse "github.com/tmaxmax/go-sse"

	"sandgate/sandboxclient"
	"sandgate/sandboxclient/wire"
)

type events = iter.Seq2[sandboxclient.Event, error]

// A given is what a source of events gives.
type given struct {
	event sandboxclient.Event
	err   error
}

// sourceOf gives what it was given.
func sourceOf(items ...given) func(context.Context) events {
	return func(context.Context) events {
		return func(yield func(sandboxclient.Event, error) bool) {
			for _, i := range items {
				if !yield(i.event, i.err) {
					return
				}
			}
		}
	}
}

func answer(source func(context.Context) events) (*httptest.ResponseRecorder, error) {
	w := httptest.NewRecorder()
	c := echo.New().NewContext(httptest.NewRequest(http.MethodGet, "/", nil), w)
	return w, Stream(c, source)
}

func TestStream_saysEachEventOnce(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	w, err := answer(sourceOf(
		given{event: wire.Event{Seq: 1, Type: wire.EventStart, Time: at, Start: &wire.Start{Origin: "fresh", Generation: 1}}},
		given{event: wire.Event{Seq: 2, Type: wire.EventStdout, Time: at, Data: []byte("data: <x>\r\n\xff\x00")}},
		given{event: wire.Event{Seq: 3, Type: wire.EventResult, Time: at, Result: &wire.Result{Text: "'s'"}}},
		given{event: wire.Event{Seq: 7, Type: wire.EventGap, Time: at, Gap: &wire.Gap{From: 4, To: 7, Bytes: 9}}},
		given{event: wire.Event{Seq: 8, Type: wire.EventComplete, Time: at, Exit: &wire.Exit{Status: "exited", DurationMS: 2}}},
	))
	if err != nil {
		t.Fatal(err)
	}
	want := `id: 1
data: {"type":"start","timestamp":"2026-01-02T03:04:05Z","start":"fresh","generation":1}

id: 2
data: {"type":"stdout","timestamp":"2026-01-02T03:04:05Z","data":"data: <x>\r\n` + "\uFFFD" + `\u0000"}

id: 3
data: {"type":"result","timestamp":"2026-01-02T03:04:05Z","text":"'s'"}

id: 7
data: {"type":"gap","timestamp":"2026-01-02T03:04:05Z","from":4,"to":7,"bytes":9}

id: 8
data: {"type":"complete","timestamp":"2026-01-02T03:04:05Z","status":"exited","exitCode":0,"durationMs":2}

`
	if got := w.Body.String(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	for name, value := range map[string]string{
		"Content-Type": "text/event-stream", "Cache-Control": "no-cache", "X-Accel-Buffering": "no",
	} {
		if got := w.Header().Get(name); got != value {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestStream_anEarlyErrorIsAnAnswerOfItsOwn(t *testing.T) {
	refused := sandboxclient.Errorf(sandboxclient.CodeNotFound, "no")
	w, err := answer(sourceOf(given{err: refused}))
	if !errors.Is(err, refused) || w.Body.Len() != 0 || w.Header().Get("Content-Type") != "" {
		t.Errorf("%v, wrote %q", err, w.Body)
	}
}

func TestStream_withNothingLeftSaysSo(t *testing.T) {
	if w, err := answer(sourceOf()); err != nil || w.Code != http.StatusNoContent {
		t.Errorf("%d, %v", w.Code, err)
	}
}

// A quiet stream is kept open by comments, which no reader takes for events.
func TestStream_beatsWhileItIsQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, err := answer(func(context.Context) events {
			return func(yield func(sandboxclient.Event, error) bool) {
				time.Sleep(2*heartbeat + time.Second/2)
				yield(wire.Event{Seq: 1, Type: wire.EventComplete, Exit: &wire.Exit{Status: "exited"}}, nil)
			}
		})
		if err != nil || strings.Count(w.Body.String(), ": still here\n") != 2 {
			t.Errorf("%v %q", err, w.Body)
		}
		if n := len(read(t, w.Body)); n != 1 {
			t.Errorf("%d events", n)
		}
	})
}

// Who only watches has the header soon; who starts something, when it is known
// whether it may.
func TestStream_greetsWhoWatches(t *testing.T) {
	for method, want := range map[string]int{http.MethodGet: 1, http.MethodPost: 0} {
		synctest.Test(t, func(t *testing.T) {
			ctx, leave := context.WithTimeout(t.Context(), 2*greeting)
			defer leave()
			w := httptest.NewRecorder()
			r := httptest.NewRequest(method, "/", nil).WithContext(ctx)
			err := Stream(echo.New().NewContext(r, w), func(ctx context.Context) events {
				return func(func(sandboxclient.Event, error) bool) { <-ctx.Done() }
			})
			if got := strings.Count(w.Body.String(), ": still here\n"); got != want {
				t.Errorf("%s: %d comments, %v", method, got, err)
			}
		})
	}
}

// The source is let go when the viewer is gone, and its last word still
// reaches a viewer who is there when the gateway stops.
func TestStream_endsWithTheRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, "/", nil).WithContext(ctx)
		time.AfterFunc(time.Second, stop)
		err := Stream(echo.New().NewContext(r, w), func(ctx context.Context) events {
			return func(yield func(sandboxclient.Event, error) bool) {
				yield(wire.Event{Seq: 1, Type: wire.EventStdout, Data: []byte("x")}, nil)
				<-ctx.Done()
				yield(wire.Event{Seq: 2, Type: wire.EventError, Code: "unavailable", Message: "The gateway is stopping"}, nil)
			}
		})
		if got := read(t, w.Body); err != nil || len(got) != 2 || !strings.Contains(got[1].Data, "stopping") {
			t.Errorf("%v %+v", err, got)
		}
	})
}

// What is encoded already is passed on as it is, and shares everything else.
func TestMessages_passOnWhatIsEncoded(t *testing.T) {
	w := httptest.NewRecorder()
	c := echo.New().NewContext(httptest.NewRequest(http.MethodGet, "/", nil), w)
	err := Messages(c, func(context.Context) iter.Seq2[Message, error] {
		return func(yield func(Message, error) bool) {
			_ = yield(Message{40, `{"type":"phase"}`}, nil) && yield(Message{41, `{"type":"complete","x":"<\u2028"}`}, nil)
		}
	})
	want := "id: 40\ndata: {\"type\":\"phase\"}\n\nid: 41\ndata: {\"type\":\"complete\",\"x\":\"<\\u2028\"}\n\n"
	if err != nil || w.Body.String() != want {
		t.Errorf("%v\n%s\nwant:\n%s", err, w.Body, want)
	}
}

func TestAfter(t *testing.T) {
	for _, c := range []struct {
		query, header string
		want          int64
		ok            bool
	}{
		{"", "", 0, true},
		{"after=3", "9", 3, true},
		{"", "9", 9, true},
		{"after=", "9", 0, true},
		{"after=-1", "", 0, false},
		{"after=x", "", 0, false},
		{"after=99999999999999999999", "", 0, false},
	} {
		r := httptest.NewRequest(http.MethodGet, "/?"+c.query, nil)
		if c.header != "" {
			r.Header.Set("Last-Event-ID", c.header)
		}
		got, err := After(echo.New().NewContext(r, httptest.NewRecorder()))
		if got != c.want || (err == nil) != c.ok {
			t.Errorf("%+v: %d, %v", c, got, err)
		}
	}
}

func read(t *testing.T, r io.Reader) []gosse.Event {
	t.Helper()
	var all []gosse.Event
	for e, err := range gosse.Read(r, nil) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// FuzzStream sends output through the writer and a reader that is not ours, and
// wants the same text back, whole, under the same number.
func FuzzStream(f *testing.F) {
	for _, seed := range []string{"x", "\r", "\n\n", "data: x\n\nid: 9\n", "\x00", "\xff", "☕", "\u2028", ": x", "\ufeff"} {
		f.Add([]byte(seed), int64(1))
	}
	f.Fuzz(func(t *testing.T, data []byte, seq int64) {
		w, err := answer(sourceOf(given{event: wire.Event{Seq: seq, Type: wire.EventStderr, Data: data}}))
		if err != nil {
			t.Fatal(err)
		}
		if !utf8.Valid(w.Body.Bytes()) {
			t.Fatal("the stream is not UTF-8")
		}
		got := read(t, bytes.NewReader(w.Body.Bytes()))
		if len(got) != 1 {
			t.Fatalf("%d events of %q", len(got), data)
		}
		var e struct{ Type, Data string }
		if err := json.Unmarshal([]byte(got[0].Data), &e); err != nil {
			t.Fatal(err)
		}
		if e.Data != sandboxclient.Text(data) || e.Type != "stderr" {
			t.Fatalf("%q became %q", data, e.Data)
		}
	})
}

// A place in a stream is a number of an event, or the request is wrong.
func FuzzAfter(f *testing.F) {
	for _, seed := range []string{"", "0", "7", "-1", "+7", "1.5", "9223372036854775808", " 7", "7\n", "0x7", "\u0667"} {
		f.Add(seed, "")
		f.Add("", seed)
	}
	f.Add("3", "9")
	f.Fuzz(func(t *testing.T, query, header string) {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		if query != "" {
			r.URL.RawQuery = "after=" + url.QueryEscape(query)
		}
		r.Header.Set("Last-Event-ID", header)
		after, err := After(echo.New().NewContext(r, httptest.NewRecorder()))
		if err != nil {
			if after != 0 || sandboxclient.CodeOf(err) != sandboxclient.CodeInvalid {
				t.Errorf("%q, %q: %d, %v", query, header, after, err)
			}
			return
		}
		said := cmp.Or(query, header, "0")
		if want, err := strconv.ParseInt(said, 10, 64); err != nil || after != want || after < 0 {
			t.Errorf("%q, %q: %d, want %q", query, header, after, said)
		}
	})
}
