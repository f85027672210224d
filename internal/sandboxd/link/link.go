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

// The pause between attempts at a gateway that does not answer grows with its
// silence: who was put to sleep and is woken must not be the one to be waited for.
const (
	prompt  = 2 * time.Millisecond  // while it is silent for less than justNow
	eager   = 10 * time.Millisecond // for less than brisk
	slow    = 50 * time.Millisecond // from then on
	justNow = 150 * time.Millisecond
	brisk   = 3 * time.Second
)

const (
	// parked is how many connections wait beyond those in use.
	parked = 2
	// dialTimeout bounds one attempt, the hello included.
	dialTimeout = time.Second
)

// A Listener dials the gateway instead of waiting for it. Its ConnState must be
// the server's hook: a connection is replaced when it is used or lost.
type Listener struct {
	dir    string
	moved  func(asleep time.Duration)
	ctx    context.Context
	stop   context.CancelFunc
	dialed chan net.Conn
	need   chan struct{} // holds one when another look at parked is due

	life   sync.Mutex // held until a new token has been told of
	token  string     // at the last look; empty before the first
	looked time.Time

	mu      sync.Mutex
	parked  int
	silence time.Time // when the gateway began not to answer; zero while it does
}

var _ net.Listener = (*Listener)(nil)

// New keeps connections to the socket in dir parked, until Close. Before a hello
// is said with another token than the last one, moved is called: this process
// was asleep, and goes on in another sandbox or in the same one under a new link.
// Nothing can be asked of it there before that. How long it was asleep follows
// from the last attempt before, as who puts it to sleep hangs up first.
func New(dir string, moved func(asleep time.Duration)) *Listener {
	ctx, stop := context.WithCancel(context.Background())
	l := &Listener{
		dir:    dir,
		moved:  moved,
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
	case time.Since(l.silence) < justNow:
		return l.parked >= parked, prompt
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
	token, err := l.readToken()
	if err != nil {
		return nil, err
	}
	h.Version, h.Token = wire.Version, token
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

// Look finds out whether the process was asleep, which moved is then told of.
func (l *Listener) Look() { _, _ = l.readToken() } // without a token there is nothing to tell

// readToken reads the token at every dial, since it tells where this process is.
func (l *Listener) readToken() (string, error) {
	l.life.Lock()
	defer l.life.Unlock()
	now := time.Now() // it may fall asleep while it reads
	text, err := os.ReadFile(filepath.Join(l.dir, wire.TokenName))
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(text))
	before, asleep := l.token, time.Since(l.looked)
	l.token, l.looked = token, now
	if before == "" || before == token {
		return token, nil
	}
	l.moved(asleep)
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.silence.IsZero() { // nobody here was silent before
		l.silence = time.Now()
	}
	return token, nil
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
