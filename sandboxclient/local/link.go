package local

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"sandgate/sandboxclient"
	"sandgate/sandboxclient/wire"
)

const (
	helloTimeout = 2 * time.Second
	maxGreeting  = 64 // connections that have not said hello yet
	maxParked    = 64 // connections that wait for a Dial
	maxEgress    = 256
	acceptPause  = 50 * time.Millisecond
)

// A link is the gateway's end of one sandbox: a socket on which sandboxd parks
// connections until somebody dials. Its peer is not trusted: what it may hold
// open is bounded, and a connection counts only after a good hello.
type link struct {
	listener *net.UnixListener
	token    string
	greeting chan struct{} // a slot for each connection that has not said hello
	parked   chan *net.UnixConn
	egress   chan struct{} // a slot for each connection that asks for the outside

	ctx  context.Context // ends with close
	stop context.CancelFunc
	wg   sync.WaitGroup // the accept loop, the greeters and who serves egress

	mu    sync.Mutex
	serve serveFunc // who answers for the outside; nil: nobody
}

// A serveFunc answers a connection that asks for the outside.
type serveFunc = func(ctx context.Context, target string, conn net.Conn)

func socketPath(dir string) string { return filepath.Join(dir, wire.SocketName) }
func tokenPath(dir string) string  { return filepath.Join(dir, wire.TokenName) }

// makeLinkDir makes a link's directory with a new token. What an earlier
// sandbox of the same id left there goes.
func makeLinkDir(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(tokenPath(dir), []byte(rand.Text()+"\n"), 0o600)
}

// openLink listens in a directory that makeLinkDir made, in this process or in
// an earlier one: a socket that is left there is replaced.
func openLink(dir string) (*link, error) {
	token, err := os.ReadFile(tokenPath(dir))
	if err != nil {
		return nil, err
	}
	if err := os.Remove(socketPath(dir)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: socketPath(dir), Net: "unix"})
	if err != nil {
		return nil, err
	}
	l := &link{
		listener: listener,
		token:    strings.TrimSpace(string(token)),
		greeting: make(chan struct{}, maxGreeting),
		parked:   make(chan *net.UnixConn, maxParked),
		egress:   make(chan struct{}, maxEgress),
	}
	l.ctx, l.stop = context.WithCancel(context.Background()) // ends in close
	l.wg.Go(l.accept)
	return l, nil
}

// close ends the link and everything parked on it. It may be called more than once.
func (l *link) close() {
	l.stop()
	_ = l.listener.Close()
	l.wg.Wait()
	for {
		select {
		case conn := <-l.parked:
			_ = conn.Close()
		default:
			return
		}
	}
}

// accept runs until the listener is closed.
func (l *link) accept() {
	for {
		conn, err := l.listener.AcceptUnix()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // out of descriptors, say: sandboxd will come again
			l.pause()
		default:
			l.receive(conn)
		}
	}
}

func (l *link) pause() {
	select {
	case <-time.After(acceptPause):
	case <-l.ctx.Done():
	}
}

// receive greets a connection in a goroutine that ends within helloTimeout or
// with the link, but for one that asks for the outside.
func (l *link) receive(conn *net.UnixConn) {
	select {
	case l.greeting <- struct{}{}:
	default:
		_ = conn.Close()
		return
	}
	l.wg.Go(func() {
		hello, err := l.greet(conn)
		<-l.greeting
		switch {
		case err != nil:
			_ = conn.Close()
		case hello.Role == wire.RoleEgress:
			l.handOver(conn, hello.Target)
		default:
			l.park(conn)
		}
	})
}

// greet reads and checks the hello.
func (l *link) greet(conn *net.UnixConn) (wire.Hello, error) {
	if err := conn.SetReadDeadline(time.Now().Add(helloTimeout)); err != nil {
		return wire.Hello{}, err
	}
	stop := context.AfterFunc(l.ctx, func() { _ = conn.Close() })
	hello, err := wire.ReadHello(conn)
	if !stop() || err != nil {
		return wire.Hello{}, errors.Join(err, l.ctx.Err())
	}
	if err := hello.Check(l.token); err != nil {
		return wire.Hello{}, err
	}
	if hello.Role != wire.RoleServe && hello.Role != wire.RoleEgress {
		return wire.Hello{}, fmt.Errorf("unknown role %.20q", hello.Role)
	}
	return hello, conn.SetReadDeadline(time.Time{})
}

// handOver has a connection answered that asks for the outside, and returns
// when that is over. Without anybody to answer, or with too many, it is closed.
func (l *link) handOver(conn *net.UnixConn, target string) {
	defer conn.Close()
	select {
	case l.egress <- struct{}{}:
	default:
		return
	}
	defer func() { <-l.egress }()
	l.mu.Lock()
	serve := l.serve
	l.mu.Unlock()
	if serve != nil {
		serve(l.ctx, target, conn)
	}
}

// open has serve answer for the outside from now on.
func (l *link) open(serve serveFunc) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.serve = serve
}

// park keeps the connection for a Dial. When the house is full the oldest goes,
// as it is the likeliest to be dead.
func (l *link) park(conn *net.UnixConn) {
	for {
		select {
		case l.parked <- conn:
			return
		default:
		}
		select {
		case oldest := <-l.parked:
			_ = oldest.Close()
		default:
		}
	}
}

// take gives the oldest parked connection that is alive, or waits for one until
// ctx ends. The end of the link is ErrGone.
func (l *link) take(ctx context.Context) (net.Conn, error) {
	for {
		if l.ctx.Err() != nil {
			return nil, sandboxclient.ErrGone
		}
		select {
		case conn := <-l.parked:
			if silent(conn) {
				return conn, nil
			}
			_ = conn.Close()
		case <-l.ctx.Done():
			return nil, sandboxclient.ErrGone
		case <-ctx.Done():
			return nil, fmt.Errorf("no connection from sandboxd: %w", context.Cause(ctx))
		}
	}
}

// silent says whether the peer is still there and has, as it must, said nothing
// after its hello. It does not block.
func silent(conn *net.UnixConn) bool {
	raw, err := conn.SyscallConn()
	if err != nil {
		return false
	}
	quiet := false
	err = raw.Control(func(fd uintptr) {
		var one [1]byte
		_, _, err := unix.Recvfrom(int(fd), one[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		quiet = errors.Is(err, unix.EAGAIN)
	})
	return err == nil && quiet
}
