// Package proxy is the sandbox's way out as programs inside see it: an HTTP
// proxy on loopback, for CONNECT and for plain requests.
//
// It decides nothing and resolves nothing. Each connection is asked for at the
// gateway, with the target as the program spelled it; a refusal is answered with
// the gateway's words. Programs are hostile: what they may hold open, and for
// how long they may say nothing, is bounded.
package proxy

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"sync"
	"time"

	"sandgate/sandboxclient/wire"
)

const (
	headerTime = 10 * time.Second
	idleTime   = time.Minute
	maxHeader  = 64 << 10
	maxClients = 256 // connections of programs; the next wait
	maxIdle    = 16  // connections kept for plain requests to one host
)

// Options say how a Proxy reaches the outside. Both are required, and may be
// called from many goroutines.
type Options struct {
	// Dial connects to HOST:PORT, or gives a [*wire.Error] to answer with.
	Dial func(ctx context.Context, target string) (net.Conn, error)
	// Refused is told of each refusal.
	Refused func(target string, refusal *wire.Error)
}

// A Proxy listens until it is closed.
type Proxy struct {
	opts     Options
	listener net.Listener
	server   *http.Server
	plain    *httputil.ReverseProxy

	ctx  context.Context // ends with Close
	stop context.CancelFunc
	wg   sync.WaitGroup // the server, and every request

	mu     sync.Mutex
	closed bool
}

// Listen opens a proxy on a free port of loopback, which every program of this
// sandbox reaches and nobody else.
func Listen(opts Options) (*Proxy, error) {
	listener, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	p := &Proxy{opts: opts, listener: newClients(listener, maxClients)}
	p.ctx, p.stop = context.WithCancel(context.Background())
	p.plain = p.newPlain()
	p.server = &http.Server{
		Handler:           p,
		ReadHeaderTimeout: headerTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeader,
		BaseContext:       func(net.Listener) context.Context { return p.ctx },
		ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug), // what goes wrong is the program's
	}
	p.wg.Go(func() { _ = p.server.Serve(p.listener) }) // ends with Close
	return p, nil
}

// Addr is HOST:PORT of the proxy.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Close ends the proxy with every connection through it, and waits for that.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.stop()
	_ = p.server.Close()
	p.plain.Transport.(*http.Transport).CloseIdleConnections()
	p.wg.Wait()
}

// enter counts a request that Close waits for; after it there are none.
func (p *Proxy) enter() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.wg.Add(1)
	}
	return !p.closed
}

// ServeHTTP answers a program.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !p.enter() {
		return
	}
	defer p.wg.Done()
	switch {
	case r.Method == http.MethodConnect:
		p.connect(w, r)
	case r.URL.Scheme == "http" && r.URL.Host != "":
		p.plain.ServeHTTP(w, r)
	case r.URL.IsAbs():
		http.Error(w, "This proxy takes http: URLs, and CONNECT for everything else", http.StatusBadRequest)
	default:
		http.Error(w, "This is the sandbox's way out, an HTTP proxy, and no site", http.StatusBadRequest)
	}
}

// fail answers why a target was not reached.
func (p *Proxy) fail(w http.ResponseWriter, target string, err error) {
	refusal, ok := errors.AsType[*wire.Error](err)
	if !ok {
		http.Error(w, "The gateway does not answer", http.StatusBadGateway)
		return
	}
	if refusal.Code != wire.CodeUnavailable {
		p.opts.Refused(target, refusal)
	}
	http.Error(w, refusal.Message, statuses[refusal.Code])
}

// statuses are what refusals are as a proxy says it.
var statuses = map[string]int{
	wire.CodeInvalid:     http.StatusBadRequest,
	wire.CodeForbidden:   http.StatusForbidden,
	wire.CodeExhausted:   http.StatusServiceUnavailable,
	wire.CodeUnavailable: http.StatusBadGateway,
}
