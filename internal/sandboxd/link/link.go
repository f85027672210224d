// Package link keeps connections to the gateway parked, and hands them to an
// HTTP server as if they had been accepted.
package link

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"sandgate/sandboxclient/wire"
)

const (
	// parked is how many connections wait beyond those in use.
	parked = 2
	// dialTimeout bounds one attempt, the hello included.
	dialTimeout = time.Second
	// eager is the pause between attempts at a gateway that has been silent for
	// less than brisk; slow is the pause from then on.
	eager = 10 * time.Millisecond
	slow  = 50 * time.Millisecond
	brisk = 3 * time.Second
)

// A Listener dials the gateway instead of waiting for it. Its ConnState must be
// the server's hook: a connection is replaced when it is used or lost.
type Listener struct {
	dir    string
	ctx    context.Context
	stop   context.CancelFunc
	dialed chan net.Conn
	need   chan struct{} // holds one when another look at parked is due

	mu      sync.Mutex
	parked  int
	silence time.Time // when the gateway began not to answer; zero while it does
}

var _ net.Listener = (*Listener)(nil)

// New keeps connections to the socket in dir parked, until Close.
func New(dir string) *Listener {
	ctx, stop := context.WithCancel(context.Background())
	l := &Listener{
		dir:    dir,
		ctx:    ctx,
		stop:   stop,
		dialed: make(chan net.Conn),
		need:   make(chan struct{}, 1),
	}
	go l.run()
	return l
}

// Accept gives the next connection, with its hello already said.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.dialed:
		return c, nil
	case <-l.ctx.Done():
		return nil, net.ErrClosed
	}
}

// Close ends the dialling; connections that were handed out live on.
func (l *Listener) Close() error {
	l.stop()
	return nil
}

// Addr names the gateway's socket.
func (l *Listener) Addr() net.Addr {
	return &net.UnixAddr{Name: filepath.Join(l.dir, wire.SocketName), Net: "unix"}
}

// A conn is parked until its first request, or until it is lost without one.
type conn struct {
	net.Conn
	unpark sync.Once
}

// ConnState learns what becomes of a connection.
func (l *Listener) ConnState(c net.Conn, state http.ConnState) {
	p, ours := c.(*conn)
	if !ours || state == http.StateNew {
		return
	}
	p.unpark.Do(func() { l.unparked(state == http.StateActive) })
}

func (l *Listener) unparked(used bool) {
	l.mu.Lock()
	l.parked--
	l.heard(used)
	l.mu.Unlock()
	select {
	case l.need <- struct{}{}:
	default:
	}
}

// heard notes whether the gateway answers. l.mu is held.
func (l *Listener) heard(answers bool) {
	if answers {
		l.silence = time.Time{}
	} else if l.silence.IsZero() {
		l.silence = time.Now()
	}
}

// run ends with Close.
func (l *Listener) run() {
	for {
		enough, pause := l.plan()
		if enough {
			select {
			case <-l.need:
				continue
			case <-l.ctx.Done():
				return
			}
		}
		select {
		case <-time.After(pause):
		case <-l.ctx.Done():
			return
		}
		l.park()
	}
}

// plan says whether enough is parked, and how long to wait before the next
// attempt: not at all while the gateway answers. To take a connection and drop
// it unused is no answer.
func (l *Listener) plan() (enough bool, pause time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.silence.IsZero():
		return l.parked >= parked, 0
	case time.Since(l.silence) < brisk:
		return l.parked >= parked, eager
	}
	return l.parked >= parked, slow
}

// park makes one attempt.
func (l *Listener) park() {
	c, err := l.dial(l.ctx, wire.Hello{Role: wire.RoleServe})
	l.mu.Lock()
	if err != nil {
		l.heard(false)
		l.mu.Unlock()
		return
	}
	l.parked++
	l.mu.Unlock()
	select {
	case l.dialed <- &conn{Conn: c}:
	case <-l.ctx.Done():
		c.Close()
	}
}

// dial connects and says the hello, which is given without version and token.
func (l *Listener) dial(ctx context.Context, h wire.Hello) (net.Conn, error) {
	token, err := os.ReadFile(filepath.Join(l.dir, wire.TokenName))
	if err != nil {
		return nil, err
	}
	h.Version, h.Token = wire.Version, strings.TrimSpace(string(token))
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", filepath.Join(l.dir, wire.SocketName))
	if err != nil {
		return nil, err
	}
	if err := hello(c, h); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func hello(c net.Conn, h wire.Hello) error {
	if err := c.SetDeadline(time.Now().Add(dialTimeout)); err != nil {
		return err
	}
	if err := wire.WriteHello(c, h); err != nil {
		return err
	}
	return c.SetDeadline(time.Time{})
}
