package main

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"

	"sandgate/internal/httpapi"
)

// Bounds on what a client may do before a handler sees its request. There is
// no bound on a whole answer: streams last.
const (
	headerTime = 10 * time.Second
	idleTime   = 2 * time.Minute
	maxHeader  = 128 << 10 // a search term and a path fit, percent-encoded
)

// A server is the apps' HTTP server, whose requests can be told to end.
type server struct {
	http.Server
	log    *slog.Logger
	cutOff context.CancelCauseFunc
}

func newServer(handler http.Handler, log *slog.Logger) *server {
	base, cutOff := context.WithCancelCause(context.Background())
	return &server{
		Server: http.Server{
			Handler:           handler,
			ReadHeaderTimeout: headerTime,
			IdleTimeout:       idleTime,
			MaxHeaderBytes:    maxHeader,
			BaseContext:       func(net.Listener) context.Context { return base },
			ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		},
		log:    log,
		cutOff: cutOff,
	}
}

// stop takes no new requests, lets those that run end within the grace, then
// ends the work that they follow, tells the rest to end, and at last closes what
// does not listen.
func (s *server) stop(grace time.Duration, endWork func() error) {
	defer s.cutOff(httpapi.ErrStopping)
	if s.shutdown(grace) {
		return
	}
	s.log.Info("ending the requests that outlast their grace", "grace", grace)
	if err := endWork(); err != nil { // told to who follows, by the work's last event
		s.log.Error("work did not end", "error", err)
	}
	if s.shutdown(lastEventTime) { // who follows has read the last event, and left
		return
	}
	s.cutOff(httpapi.ErrStopping)
	if s.shutdown(cutOffTime) {
		return
	}
	s.log.Warn("closing connections that would not end")
	_ = s.Close()
}

func (s *server) shutdown(within time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	return s.Shutdown(ctx) == nil
}
