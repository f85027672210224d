package local

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"sandgate/sandboxclient"
	"sandgate/sandboxclient/wire"
)

func newLink(t *testing.T) (*link, string) {
	t.Helper()
	dir := newLinkDir(t)
	l, err := openLink(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.close)
	return l, dir
}

// greet connects as sandboxd does and says the line.
func greet(t *testing.T, dir, line string) net.Conn {
	t.Helper()
	conn, err := net.Dial("unix", socketPath(dir))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := io.WriteString(conn, line); err != nil && !errors.Is(err, syscall.EPIPE) {
		t.Fatal(err) // but for a gateway that hung up at once
	}
	return conn
}

func (l *link) hello() string { return "SANDGATE 1 " + l.token + " serve\n" }

// closedByGateway waits until the other side has hung up.
func closedByGateway(t *testing.T, conn net.Conn) {
	t.Helper()
	_ = conn.SetReadDeadline(time.Now().Add(helloTimeout + time.Second))
	if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the connection is still open: %v", err)
	}
}

func take(t *testing.T, l *link) net.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	conn, err := l.take(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// park parks a connection, certainly before the next one, and gives sandboxd's end.
func park(t *testing.T, l *link, dir string) net.Conn {
	t.Helper()
	parked := len(l.parked)
	theirs := greet(t, dir, l.hello())
	eventually(t, func() bool { return len(l.parked) > parked })
	return theirs
}

// same checks that two ends belong together.
func same(t *testing.T, theirs, ours net.Conn) {
	t.Helper()
	if _, err := io.WriteString(theirs, "x"); err != nil {
		t.Fatal(err)
	}
	_ = ours.SetReadDeadline(time.Now().Add(time.Second))
	if _, err := ours.Read(make([]byte, 1)); err != nil {
		t.Errorf("this is another connection: %v", err)
	}
}

func TestLink_givesTheOldestFirst(t *testing.T) {
	l, dir := newLink(t)
	first := greet(t, dir, l.hello())
	ours := take(t, l)
	second, third := park(t, l, dir), greet(t, dir, l.hello())
	same(t, first, ours)
	same(t, second, take(t, l))
	same(t, third, take(t, l))
}

func TestLink_refusesStrangers(t *testing.T) {
	l, dir := newLink(t)
	for name, line := range map[string]string{
		"wrong token":   "SANDGATE 1 " + strings.Repeat("x", len(l.token)) + " serve\n",
		"no token":      "SANDGATE 1  serve\n",
		"other version": "SANDGATE 2 " + l.token + " serve\n",
		"unknown role":  "SANDGATE 1 " + l.token + " command\n",
		"other magic":   "HELLO 1 " + l.token + " serve\n",
		"endless line":  strings.Repeat("x", 4096),
		"nothing":       "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			closedByGateway(t, greet(t, dir, line))
		})
	}
}

func TestLink_boundsTheSilent(t *testing.T) {
	l, dir := newLink(t)
	var held []net.Conn
	for range maxGreeting {
		held = append(held, greet(t, dir, ""))
	}
	eventually(t, func() bool { return len(l.greeting) == maxGreeting })
	closedByGateway(t, greet(t, dir, l.hello()))
	_ = held[0].Close()
	eventually(t, func() bool { return len(l.greeting) < maxGreeting })
	greet(t, dir, l.hello())
	take(t, l)
}

func TestLink_dropsTheOldestWhenFull(t *testing.T) {
	l, dir := newLink(t)
	first := park(t, l, dir)
	for range maxParked {
		greet(t, dir, l.hello())
	}
	closedByGateway(t, first)
	take(t, l)
}

func TestLink_passesOverTheDeadAndTheTalkative(t *testing.T) {
	l, dir := newLink(t)
	dead, talkative := park(t, l, dir), park(t, l, dir)
	_ = dead.Close()
	_, _ = io.WriteString(talkative, "more")
	good := greet(t, dir, l.hello())
	same(t, good, take(t, l))
	closedByGateway(t, talkative)
}

func TestLink_takeEndsWithItsContext(t *testing.T) {
	l, _ := newLink(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := l.take(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("take: %v, want the context's error", err)
	}
}

func TestLink_closeEndsEverything(t *testing.T) {
	l, dir := newLink(t)
	parked := park(t, l, dir)
	silent := greet(t, dir, "")
	l.close()
	l.close()
	closedByGateway(t, parked)
	closedByGateway(t, silent)
	if _, err := l.take(t.Context()); !errors.Is(err, sandboxclient.ErrGone) {
		t.Errorf("take: %v, want ErrGone", err)
	}
	if _, err := net.Dial("unix", socketPath(dir)); err == nil {
		t.Error("somebody still listens")
	}
}

func TestOpenLink_replacesAStaleSocket(t *testing.T) {
	l, dir := newLink(t)
	l.listener.SetUnlinkOnClose(false) // as after kill -9
	l.close()
	if _, err := os.Lstat(socketPath(dir)); err != nil {
		t.Fatal(err)
	}
	again, err := openLink(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer again.close()
	if again.token != l.token {
		t.Error("the token changed under a living sandbox")
	}
	greet(t, dir, again.hello())
	take(t, again)
}

func TestMakeLinkDir_isRootsAlone(t *testing.T) {
	_, dir := newLink(t)
	for path, want := range map[string]os.FileMode{dir: 0o700, tokenPath(dir): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want mode %o", path, info.Mode(), err, want)
		}
	}
	if wire.SocketName != "s" {
		t.Error("a longer socket name leaves less room for the state directory")
	}
}
