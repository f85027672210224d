package main

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"sandgate/internal/httpapi"
)

// readiness says whether the gateway takes requests.
type readiness struct{ yes atomic.Bool }

func (r *readiness) set(yes bool) { r.yes.Store(yes) }

// healthz answers GET /healthz: the process lives.
func healthz(w http.ResponseWriter, _ *http.Request) {
	_, _ = w.Write([]byte("ok\n"))
}

// readyz answers GET /readyz: 503 until requests are taken, and again once the
// gateway stops.
func (r *readiness) readyz(w http.ResponseWriter, _ *http.Request) {
	if !r.yes.Load() {
		http.Error(w, "not ready", http.StatusServiceUnavailable)
		return
	}
	_, _ = w.Write([]byte("ok\n"))
}

// newAdmin makes the operator's server.
func newAdmin(ready *readiness, metrics prometheus.Gatherer, guard *httpapi.Guard, log *slog.Logger) *http.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", healthz)
	mux.HandleFunc("GET /readyz", ready.readyz)
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return &http.Server{
		Handler:           guarded(guard, mux),
		ReadHeaderTimeout: headerTime,
		IdleTimeout:       idleTime,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// guarded keeps web pages away from the operator's server.
func guarded(guard *httpapi.Guard, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if err := guard.Check(r); err != nil {
			http.Error(w, "this host or origin is not answered", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// startAdmin serves in the background; the function it returns stops it.
func startAdmin(server *http.Server, l net.Listener, log *slog.Logger) func() {
	var wg sync.WaitGroup
	wg.Go(func() { _ = server.Serve(l) })
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), adminStopTime)
		defer cancel()
		if server.Shutdown(ctx) != nil {
			log.Debug("closing the operator's connections")
			_ = server.Close()
		}
		wg.Wait()
	}
}
