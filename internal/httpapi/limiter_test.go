package httpapi

import (
	"context"
	"io"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"sandgate/sandboxclient"
)

// A doorway is a limiter before a handler that answers when it is let.
type doorway struct {
	*Limiter
	registry *prometheus.Registry
	let      chan bool
}

func newDoorway(most int, wait time.Duration) doorway {
	registry := prometheus.NewPedanticRegistry()
	limiter := NewLimiter(LimiterOptions{Kind: "work", Most: most, Wait: wait, Registry: registry})
	return doorway{limiter, registry, make(chan bool)}
}

// request sends one through the doorway.
func (d doorway) request(ctx context.Context, body io.Reader) error {
	r := httptest.NewRequestWithContext(ctx, "POST", "/run", body)
	handler := func(c echo.Context) error {
		<-d.let
		_, err := io.ReadAll(c.Request().Body)
		return err
	}
	return d.Admit(handler)(echo.New().NewContext(r, httptest.NewRecorder()))
}

// counts checks the gauges.
func (d doorway) counts(t *testing.T, held, waiting string) {
	t.Helper()
	want := `
# HELP sandgate_http_slots_held Requests that hold a slot, by kind.
# TYPE sandgate_http_slots_held gauge
sandgate_http_slots_held{kind="work"} ` + held + `
# HELP sandgate_http_slots_waiting Requests that wait for a slot, by kind.
# TYPE sandgate_http_slots_waiting gauge
sandgate_http_slots_waiting{kind="work"} ` + waiting + "\n"
	if err := testutil.GatherAndCompare(d.registry, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}

// unread is a body that nobody may have looked at.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body was read before there was a slot")
	return 0, io.EOF
}

func TestLimiter_waitsItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoorway(2, time.Minute)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if err := d.request(t.Context(), strings.NewReader("x")); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		d.counts(t, "2", "2")
		d.let <- true
		synctest.Wait()
		d.counts(t, "2", "1")
		close(d.let)
		wg.Wait()
		d.counts(t, "0", "0")
	})
}

func TestLimiter_boundsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoorway(1, 10*time.Second)
		var wg sync.WaitGroup
		wg.Go(func() { _ = d.request(t.Context(), nil) })
		synctest.Wait()

		begin := time.Now()
		err := d.request(t.Context(), unread{t})
		if sandboxclient.CodeOf(err) != sandboxclient.CodeExhausted || time.Since(begin) != 10*time.Second {
			t.Errorf("after %v: %v", time.Since(begin), err)
		}
		d.counts(t, "1", "0")
		close(d.let)
		wg.Wait()
	})
}

func TestLimiter_boundsTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoorway(1, time.Minute)
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() { _ = d.request(t.Context(), nil) })
		}
		synctest.Wait()

		begin := time.Now()
		err := d.request(t.Context(), unread{t})
		if sandboxclient.CodeOf(err) != sandboxclient.CodeExhausted || time.Since(begin) != 0 {
			t.Errorf("after %v: %v", time.Since(begin), err)
		}
		close(d.let)
		wg.Wait()
	})
}

// Whoever leaves the queue leaves no hole in it.
func TestLimiter_clientLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoorway(1, time.Minute)
		var wg sync.WaitGroup
		wg.Go(func() { _ = d.request(t.Context(), nil) })
		synctest.Wait()

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := d.request(ctx, unread{t}); sandboxclient.CodeOf(err) == sandboxclient.CodeExhausted || err == nil {
			t.Errorf("%v", err)
		}
		d.counts(t, "1", "0")
		close(d.let)
		wg.Wait()
		if err := d.request(t.Context(), nil); err != nil {
			t.Error(err)
		}
	})
}

// A handler that panics gives its slot back.
func TestLimiter_panic(t *testing.T) {
	d := newDoorway(1, time.Minute)
	func() {
		defer func() { _ = recover() }()
		_ = d.Admit(func(echo.Context) error { panic("x") })(echo.New().NewContext(httptest.NewRequest("GET", "/", nil), nil))
	}()
	d.counts(t, "0", "0")
}

func TestLimiter_answer(t *testing.T) {
	d := newDesk()
	door := newDoorway(1, time.Nanosecond)
	if err := door.enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.Handle("POST", "/run", "app", door.Admit(fails(nil)))
	resp := d.serve(t, "POST", "/run", "x")
	if resp.StatusCode != 429 || resp.Header.Get("Retry-After") == "" {
		t.Errorf("%d %v", resp.StatusCode, resp.Header)
	}
}
