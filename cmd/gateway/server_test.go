package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"sandgate/handlers/sandboxapi"
	"sandgate/internal/httpapi"
	"sandgate/sandboxclient"
)

var quiet = slog.New(slog.DiscardHandler)

// serving is a server with one request in its handler.
func serving(t *testing.T, handler http.HandlerFunc) (s *server, answer chan string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	entered := make(chan bool)
	s = newServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(entered)
		handler(w, r)
	}), quiet)
	go func() { _ = s.Serve(l) }()
	answer = make(chan string, 1)
	go func() {
		resp, err := http.Get("http://" + l.Addr().String())
		if err != nil {
			answer <- "no answer"
			return
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		answer <- string(body)
	}()
	<-entered
	return s, answer
}

func TestServer_requestsEndWithinTheGrace(t *testing.T) {
	stopping := make(chan bool)
	s, answer := serving(t, func(w http.ResponseWriter, r *http.Request) {
		<-stopping
		if r.Context().Err() == nil {
			_, _ = w.Write([]byte("done"))
		}
	})
	s.RegisterOnShutdown(func() { close(stopping) })
	s.stop(time.Minute, noWork)
	if got := <-answer; got != "done" {
		t.Errorf("answered %q", got)
	}
}

func TestServer_requestsAreToldToEnd(t *testing.T) {
	s, answer := serving(t, func(w http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		if errors.Is(context.Cause(r.Context()), httpapi.ErrStopping) {
			_, _ = w.Write([]byte("told"))
		}
	})
	s.stop(0, noWork)
	if got := <-answer; got != "told" {
		t.Errorf("answered %q", got)
	}
}

func TestAdmin(t *testing.T) {
	var ready readiness
	registry := newRegistry()
	admin := newAdmin(&ready, registry, httpapi.NewGuard(nil), quiet)
	for _, tc := range []struct {
		host, target string
		ready        bool
		status       int
		body         string
	}{
		{"localhost", "/healthz", false, 200, "ok\n"},
		{"localhost", "/readyz", false, 503, "not ready\n"},
		{"localhost", "/readyz", true, 200, "ok\n"},
		{"localhost", "/metrics", true, 200, "go_goroutines"},
		{"localhost", "/debug/pprof/", true, 200, "goroutine"},
		{"localhost", "/debug/pprof/heap", true, 200, ""},
		{"localhost", "/run", true, 404, ""},
		{"evil.example.org", "/metrics", true, 403, ""},
	} {
		ready.set(tc.ready)
		r := httptest.NewRequest("GET", tc.target, nil)
		r.Host = tc.host
		w := httptest.NewRecorder()
		admin.Handler.ServeHTTP(w, r)
		if w.Code != tc.status || !strings.Contains(w.Body.String(), tc.body) {
			t.Errorf("%s %s: %d %.200s", tc.host, tc.target, w.Code, w.Body)
		}
	}
}

func TestOperations(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	o := newOperations(registry)
	o.observe("run code", "", time.Second)
	o.observe("run code", sandboxclient.CodeUnavailable, time.Second)
	want := `
# HELP sandgate_operations_total Operations on sandboxes that have ended, by name and outcome: ok or the error's code.
# TYPE sandgate_operations_total counter
sandgate_operations_total{op="run code",outcome="ok"} 1
sandgate_operations_total{op="run code",outcome="unavailable"} 1
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "sandgate_operations_total"); err != nil {
		t.Error(err)
	}
	if problems, err := testutil.GatherAndLint(registry); err != nil || len(problems) > 0 {
		t.Errorf("lint: %v, %v", problems, err)
	}
}

// systemd is told, where there is one.
func TestNotify(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	t.Setenv("NOTIFY_SOCKET", path)
	notify(quiet, daemon.SdNotifyReady)
	message := make([]byte, 100)
	n, err := socket.Read(message)
	if got := string(message[:n]); err != nil || got != "READY=1" {
		t.Errorf("%q, %v", got, err)
	}
}

// The list at the root names every route, and every route is answered.
func TestRoutes(t *testing.T) {
	client := sandboxclient.New(sandboxclient.Options{})
	all := routes(client, nil, defaults(), sandboxapi.Document{})
	api := httpapi.New(httpapi.Options{Logger: quiet, Registry: prometheus.NewRegistry(), Guard: httpapi.NewGuard(nil)})
	mount(api, all, newLimiters(defaults(), prometheus.NewRegistry()))
	list := ask(api, "GET", "/").Body.String()
	for _, r := range all {
		if r.does == "" || r.app == "" || !strings.Contains(list, r.method) || !strings.Contains(list, r.path) {
			t.Errorf("%s %s is not in the list:\n%s", r.method, r.path, list)
		}
		if w := ask(api, "OPTIONS", r.path); w.Code != 204 || !strings.Contains(w.Header().Get("Allow"), r.method) {
			t.Errorf("%s %s: %d, Allow %s", r.method, r.path, w.Code, w.Header().Get("Allow"))
		}
	}
	if !strings.Contains(list, "curl -d 'print(\"hello\")' localhost:8787/run\n") {
		t.Errorf("no example:\n%s", list)
	}
}

// A parameter that a route does not have is refused by every route, in words
// that name those it has; those it has are not.
func TestRoutes_unknownParameters(t *testing.T) {
	all := routes(sandboxclient.New(sandboxclient.Options{}), nil, defaults(), sandboxapi.Document{})
	for i := range all {
		all[i].handler = func(c echo.Context) error { return c.NoContent(http.StatusNoContent) }
	}
	api := httpapi.New(httpapi.Options{Logger: quiet, Registry: prometheus.NewRegistry(), Guard: httpapi.NewGuard(nil)})
	mount(api, all, newLimiters(defaults(), prometheus.NewRegistry()))
	for _, r := range append(all, route{method: "GET", path: "/"}) {
		names := strings.Join(r.parameters(), ", ")
		w := ask(api, r.method, r.path+"?"+r.query+"&tmeout=1")
		if w.Code != 400 || !strings.Contains(w.Body.String(), `"tmeout"`) || !strings.Contains(w.Body.String(), names) {
			t.Errorf("%s %s: %d %s", r.method, r.path, w.Code, w.Body)
		}
		if w := ask(api, r.method, r.path+"?"+r.query); w.Code/100 != 2 {
			t.Errorf("%s %s?%s: %d %s", r.method, r.path, r.query, w.Code, w.Body)
		}
	}
}

func ask(h http.Handler, method, target string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	r.Host = "localhost:8787"
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func noWork() error { return nil }
