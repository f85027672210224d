package main

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"

	"sandgate/handlers/sandboxapi"
	"sandgate/internal/httpapi"
	"sandgate/sandboxclient"
)

// Every route competes with its kind; only what takes long competes with work.
func TestLimiters_coverEveryRoute(t *testing.T) {
	limits := newLimiters(defaults(), prometheus.NewPedanticRegistry())
	for _, r := range routes(sandboxclient.New(sandboxclient.Options{}), nil, defaults(), sandboxapi.Document{}) {
		if limits[r.kind] == nil {
			t.Errorf("%s %s is of kind %q", r.method, r.path, r.kind)
		}
	}
}

// While the house is full of work, what ends work is answered, and the list
// of routes as well.
func TestLimiters_aFullHouseCanBeCleared(t *testing.T) {
	cfg := defaults()
	cfg.MaxRequests, cfg.QueueTime = 1, time.Nanosecond
	registry := prometheus.NewRegistry()
	api := httpapi.New(httpapi.Options{Logger: quiet, Registry: registry, Guard: httpapi.NewGuard(nil)})
	entered, leave := make(chan bool), make(chan bool)
	busy := func(c echo.Context) error {
		close(entered)
		<-leave
		return c.NoContent(http.StatusNoContent)
	}
	quick := func(c echo.Context) error { return c.NoContent(http.StatusNoContent) }
	mount(api, []route{
		{method: "POST", path: "/run", kind: working, handler: busy},
		{method: "DELETE", path: "/executions/:id", kind: steering, handler: quick},
		{method: "GET", path: "/executions/:id/events", kind: viewing, handler: quick},
	}, newLimiters(cfg, registry))

	first := make(chan int)
	go func() { first <- ask(api, "POST", "/run").Code }()
	<-entered
	for _, tc := range []struct {
		method, path string
		status       int
	}{
		{"POST", "/run", 429}, {"DELETE", "/executions/x", 204}, {"GET", "/executions/x/events", 204}, {"GET", "/", 200},
	} {
		if got := ask(api, tc.method, tc.path).Code; got != tc.status {
			t.Errorf("%s %s: %d, want %d", tc.method, tc.path, got, tc.status)
		}
	}
	close(leave)
	if got := <-first; got != 204 {
		t.Errorf("the first: %d", got)
	}
}

// Who follows links for long keeps nobody from signing in.
func TestLimiters_visitorsLeaveTheDoorOpen(t *testing.T) {
	cfg := defaults()
	cfg.MaxRequests, cfg.QueueTime = 1, time.Nanosecond
	registry := prometheus.NewRegistry()
	api := httpapi.New(httpapi.Options{Logger: quiet, Registry: registry, Guard: httpapi.NewGuard(nil)})
	entered, leave := make(chan bool), make(chan bool)
	limits := newLimiters(cfg, registry)
	all := append(shareRoutes(opened{key: []byte("key")}, nil, limits[visiting], cfg), sessionRoutes(nil)...)
	for i := range all {
		all[i].handler = func(c echo.Context) error { return c.NoContent(http.StatusNoContent) }
		if all[i].path == "/s/:token/*" {
			all[i].handler = limits[visiting].Admit(func(c echo.Context) error {
				entered <- true
				<-leave
				return c.NoContent(http.StatusNoContent)
			})
		}
	}
	mount(api, all, limits)
	visit := make(chan int)
	go func() { visit <- ask(api, "GET", "/s/token/events").Code }()
	<-entered
	if got := ask(api, "POST", "/v1/session").Code; got != 204 {
		t.Errorf("signing in: %d", got)
	}
	close(leave)
	if got := <-visit; got != 204 {
		t.Errorf("the visit: %d", got)
	}
}

// However many send a key slowly, whoever has one gets in.
func TestLimiters_halfAKeyHoldsNothing(t *testing.T) {
	cfg := defaults()
	cfg.MaxRequests, cfg.QueueTime = 1, time.Nanosecond
	registry := prometheus.NewRegistry()
	api := httpapi.New(httpapi.Options{Logger: quiet, Registry: registry, Guard: httpapi.NewGuard(nil)})
	all := sessionRoutes(nil)
	var got string
	for i := range all {
		all[i].handler = func(c echo.Context) error {
			body, err := httpapi.ReadBody(c, 100)
			got = string(body)
			return errors.Join(err, c.NoContent(http.StatusNoContent))
		}
	}
	mount(api, all, newLimiters(cfg, registry))
	sign := func(body io.Reader) int {
		r := httptest.NewRequest("POST", "/v1/session", body)
		r.Host = "localhost"
		w := httptest.NewRecorder()
		api.ServeHTTP(w, r)
		return w.Code
	}
	half, rest := io.Pipe()
	slow := make(chan int)
	go func() { slow <- sign(half) }()
	_, _ = rest.Write([]byte("sg_"))
	if status := sign(strings.NewReader("sg_whole")); status != 204 || got != "sg_whole" {
		t.Errorf("beside half a key: %d, %q", status, got)
	}
	_ = rest.Close()
	if status := <-slow; status != 204 || got != "sg_" {
		t.Errorf("half a key: %d, %q", status, got)
	}
	if status := sign(strings.NewReader(strings.Repeat("x", 5<<10))); status != 413 {
		t.Errorf("too much: %d", status)
	}
}
