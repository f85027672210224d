package link

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"sandgate/sandboxclient/wire"
)

// hang is the bound that tells a hang from a slow machine.
const hang = 20 * time.Second

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A gateway is the other side: what it has accepted lies in parked.
type gateway struct {
	t      *testing.T
	dir    string
	l      net.Listener
	parked chan net.Conn

	mu       sync.Mutex
	accepted int
}

func newDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "link") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.WriteFile(filepath.Join(dir, wire.TokenName), []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func listen(t *testing.T, dir string) *gateway {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(dir, wire.SocketName))
	if err != nil {
		t.Fatal(err)
	}
	g := &gateway{t: t, dir: dir, l: l, parked: make(chan net.Conn, 1000)}
	var accepting sync.WaitGroup
	accepting.Go(g.accept)
	t.Cleanup(func() { g.close(); accepting.Wait() })
	return g
}

func (g *gateway) accept() {
	for {
		c, err := g.l.Accept()
		if err != nil {
			return
		}
		h, err := wire.ReadHello(c)
		if errors.Is(err, io.EOF) { // it was to end before it had said anything
			_ = c.Close()
			continue
		}
		if err != nil || h.Check("secret") != nil || h.Role != wire.RoleServe {
			g.t.Errorf("hello %+v, %v", h, err)
		}
		g.mu.Lock()
		g.accepted++
		g.mu.Unlock()
		g.parked <- c
	}
}

func (g *gateway) close() {
	g.l.Close()
	for {
		select {
		case c := <-g.parked:
			c.Close()
		default:
			return
		}
	}
}

func (g *gateway) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.accepted
}

func (g *gateway) take() net.Conn {
	g.t.Helper()
	select {
	case c := <-g.parked:
		g.t.Cleanup(func() { c.Close() })
		return c
	case <-time.After(hang):
		g.t.Fatal("no connection is parked")
		return nil
	}
}

// ask makes one request on a connection and leaves it open.
func (g *gateway) ask(c net.Conn) {
	g.t.Helper()
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: s\r\n\r\n"); err != nil {
		g.t.Fatal(err)
	}
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		g.t.Fatal(err)
	}
	defer r.Body.Close()
	if body, err := io.ReadAll(r.Body); err != nil || string(body) != "here" {
		g.t.Fatalf("answer %q, %v", body, err)
	}
}

func serve(t *testing.T, dir string) *Listener {
	t.Helper()
	return serveMoving(t, dir, func(time.Duration) { t.Error("told of another token") })
}

// serveMoving is told when the token is another one.
func serveMoving(t *testing.T, dir string, moved func(time.Duration)) *Listener {
	t.Helper()
	l := New(dir, moved)
	s := &http.Server{
		ConnState: l.ConnState,
		Handler:   http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "here") }),
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	})
	t.Cleanup(func() { l.Close(); s.Close(); serving.Wait() })
	return l
}

// quietly says how many more connections come in a time that is long for them.
func (g *gateway) quietly() int {
	before := g.count()
	<-time.After(100 * time.Millisecond)
	return g.count() - before
}

func TestListener_keepsConnectionsParkedBeyondThoseInUse(t *testing.T) {
	dir := newDir(t)
	g := listen(t, dir)
	serve(t, dir)
	var used []net.Conn
	for range 20 { // a burst: more than were ever parked
		c := g.take()
		g.ask(c)
		used = append(used, c)
	}
	for len(g.parked) < parked {
		<-time.After(time.Millisecond)
	}
	if extra := g.quietly(); extra != 0 {
		t.Errorf("%d more than are needed", extra)
	}
	if got, want := g.count(), 20+parked; got != want {
		t.Errorf("%d connections, want %d", got, want)
	}
	for _, c := range used {
		g.ask(c) // kept alive
		c.Close()
	}
	if extra := g.quietly(); extra != 0 {
		t.Errorf("%d new ones for used ones that ended", extra)
	}
}

func TestListener_replacesWhatIsLost(t *testing.T) {
	dir := newDir(t)
	g := listen(t, dir)
	serve(t, dir)
	for range 10 {
		g.take().Close()
	}
	g.ask(g.take())
}

func TestListener_findsAGatewayThatComesLateOrAgain(t *testing.T) {
	dir := newDir(t)
	serve(t, dir)
	for range 3 {
		g := listen(t, dir)
		c := g.take()
		g.ask(c)
		c.Close()
		g.close()
	}
}

func TestListener_readsTheTokenAtEveryDial(t *testing.T) {
	dir := newDir(t)
	token := filepath.Join(dir, wire.TokenName)
	if err := os.Remove(token); err != nil {
		t.Fatal(err)
	}
	g := listen(t, dir)
	serve(t, dir)
	if n := g.quietly(); n != 0 {
		t.Fatalf("%d connections without a token", n)
	}
	// At once, as a dial in between would read half of it.
	if err := errors.Join(os.WriteFile(token+".new", []byte("secret"), 0o600), os.Rename(token+".new", token)); err != nil {
		t.Fatal(err)
	}
	g.ask(g.take())
}

func TestListener_tellsOfAnotherTokenBeforeItIsUsed(t *testing.T) {
	dir := newDir(t)
	write := func(token string) {
		if err := os.WriteFile(filepath.Join(dir, wire.TokenName), []byte(token), 0o600); err != nil {
			t.Error(err)
		}
	}
	write("template")
	l, err := net.Listen("unix", filepath.Join(dir, wire.SocketName))
	if err != nil {
		t.Fatal(err)
	}
	tokens := make(chan string, 100)
	var accepting sync.WaitGroup
	accepting.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if h, err := wire.ReadHello(c); err == nil {
				tokens <- h.Token
			}
			c.Close()
		}
	})
	defer accepting.Wait()
	defer l.Close()
	moves := make(chan struct{}, 10)
	began := time.Now()
	serveMoving(t, dir, func(asleep time.Duration) {
		if asleep <= 0 || asleep > time.Since(began) {
			t.Errorf("it was asleep for %v", asleep)
		}
		<-time.After(20 * time.Millisecond) // long for a dial that did not wait
		moves <- struct{}{}
	})
	for token := range tokens {
		switch {
		case token == "template" && len(moves) == 0:
			write("secret")
		case token == "secret" && len(moves) == 1:
			return
		default:
			t.Fatalf("token %q after %d moves", token, len(moves))
		}
	}
}

// A sandbox can fall asleep while the token is read: that time is sleep as well.
func TestListener_countsASleepThatBeginsWithTheTokenHalfRead(t *testing.T) {
	dir := newDir(t)
	token := filepath.Join(dir, wire.TokenName)
	replace := func(with func() error) {
		t.Helper()
		if err := errors.Join(os.Remove(token), with()); err != nil {
			t.Fatal(err)
		}
	}
	var asleep time.Duration
	l := &Listener{dir: dir, moved: func(d time.Duration) { asleep = d }}
	l.Look()
	replace(func() error { return unix.Mkfifo(token, 0o600) })
	var looking sync.WaitGroup
	looking.Go(l.Look)
	pipe, err := os.OpenFile(token, os.O_WRONLY, 0) // once it is being read
	if err != nil {
		t.Fatal(err)
	}
	const sleep = 100 * time.Millisecond
	<-time.After(sleep)
	if _, err := pipe.WriteString("secret\n"); err != nil {
		t.Fatal(err)
	}
	pipe.Close()
	looking.Wait()
	replace(func() error { return os.WriteFile(token, []byte("another\n"), 0o600) })
	l.Look()
	if asleep < sleep {
		t.Errorf("it slept for %v, want %v at least", asleep, sleep)
	}
}

func TestListener_doesNotSpin(t *testing.T) {
	dir := newDir(t)
	l, err := net.Listen("unix", filepath.Join(dir, wire.SocketName))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var rude sync.WaitGroup
	defer rude.Wait()
	defer l.Close()
	attempts := make(chan struct{}, 10_000)
	rude.Go(func() { // takes connections and drops them
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
			attempts <- struct{}{}
		}
	})
	serve(t, dir)
	<-time.After(500 * time.Millisecond)
	if n := len(attempts); n == 0 || n > 120 {
		t.Errorf("%d attempts in half a second", n)
	}
}

func TestPlan_slowsDownInLongSilence(t *testing.T) {
	l := new(Listener)
	if enough, pause := l.plan(); enough || pause != 0 {
		t.Errorf("at first: %v, %v", enough, pause)
	}
	l.heard(false)
	if _, pause := l.plan(); pause != prompt {
		t.Errorf("in a silence that begins: %v", pause)
	}
	l.silence = time.Now().Add(-justNow)
	if _, pause := l.plan(); pause != eager {
		t.Errorf("in a silence: %v", pause)
	}
	l.silence = time.Now().Add(-brisk)
	l.heard(false)
	if _, pause := l.plan(); pause != slow {
		t.Errorf("in a long silence: %v", pause)
	}
	l.heard(true)
	l.parked = parked
	if enough, pause := l.plan(); !enough || pause != 0 {
		t.Errorf("when it answers: %v, %v", enough, pause)
	}
}

func TestListener_closeEndsAccept(t *testing.T) {
	l := New(newDir(t), func(time.Duration) {})
	done := make(chan error)
	go func() {
		_, err := l.Accept()
		done <- err
	}()
	l.Close()
	if err := <-done; !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	if l.Addr().Network() != "unix" {
		t.Error(l.Addr())
	}
}
