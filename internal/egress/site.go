package egress

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// How long a sandbox may take to say what it wants, and how much of it.
const (
	siteHeaderTime = 10 * time.Second
	siteHeader     = 64 << 10
)

// serveSite has a handler of the gateway's own answer a connection, and returns
// when that has ended.
func serveSite(ctx context.Context, conn net.Conn, handler http.Handler) {
	ctx, cancel := context.WithTimeout(ctx, lifetime)
	defer cancel()
	only := &oneConn{Conn: conn, closed: make(chan struct{})}
	defer context.AfterFunc(ctx, func() { _ = only.Close() })()
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: siteHeaderTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    siteHeader,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug), // a sandbox's mistakes
	}
	_ = server.Serve(&oneListener{conn: only}) // which returns once it is accepted
	<-only.closed
}

// A oneListener accepts one connection.
type oneListener struct {
	conn  *oneConn
	taken bool
}

func (l *oneListener) Accept() (net.Conn, error) {
	if l.taken {
		return nil, net.ErrClosed
	}
	l.taken = true
	return l.conn, nil
}

func (l *oneListener) Close() error   { return nil }
func (l *oneListener) Addr() net.Addr { return l.conn.LocalAddr() }

// A oneConn tells when it is closed.
type oneConn struct {
	net.Conn
	once   sync.Once
	closed chan struct{}
}

// Close ends the connection.
func (c *oneConn) Close() error {
	defer c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// A counted connection takes what passes from what may.
type counted struct {
	net.Conn
	left           *atomic.Int64
	sent, received prometheus.Counter // as the sandbox sees it
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	return n, c.pass(n, err, c.sent)
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	return n, c.pass(n, err, c.received)
}

func (c *counted) pass(n int, err error, counter prometheus.Counter) error {
	counter.Add(float64(n))
	if c.left.Add(-int64(n)) < 0 {
		_ = c.Close()
		return net.ErrClosed
	}
	return err
}
