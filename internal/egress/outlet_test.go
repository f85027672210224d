package egress

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"sandgate/sandboxclient"
	"sandgate/sandboxclient/wire"
)

// hang is the bound that tells a hang from a slow machine.
const hang = 20 * time.Second

// A rig is one sandbox's way out, seen from the sandbox's side.
type rig struct {
	t      *testing.T
	gate   *Gate
	outlet sandboxclient.Outlet
	log    *lockedBuffer
	inside *net.UnixListener

	ctx context.Context
	end context.CancelFunc // the sandbox's
	wg  sync.WaitGroup
}

type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}

func newRig(t *testing.T, app string, opts Options) *rig {
	t.Helper()
	r := &rig{t: t, log: &lockedBuffer{}}
	opts.Logger = slog.New(slog.NewTextHandler(r.log, nil))
	opts.Registry = prometheus.NewRegistry()
	r.gate = New(opts)
	r.outlet = r.gate.Open("sandboxid", sandboxclient.Ref{App: app})
	var err error
	r.inside, err = net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "s"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	r.ctx, r.end = context.WithCancel(context.Background())
	t.Cleanup(func() {
		_ = r.inside.Close()
		r.end()
		r.wg.Wait()
	})
	return r
}

// ask opens a connection as sandboxd does after its hello.
func (r *rig) ask(target string) *net.UnixConn {
	r.t.Helper()
	theirs, err := net.DialUnix("unix", nil, r.inside.Addr().(*net.UnixAddr))
	if err != nil {
		r.t.Fatal(err)
	}
	ours, err := r.inside.AcceptUnix()
	if err != nil {
		r.t.Fatal(err)
	}
	r.wg.Go(func() { r.outlet.Serve(r.ctx, target, ours) })
	r.t.Cleanup(func() { _ = theirs.Close() })
	_ = theirs.SetDeadline(time.Now().Add(hang))
	return theirs
}

// connect asks and reads the answer.
func (r *rig) connect(target string) (*net.UnixConn, error) {
	r.t.Helper()
	conn := r.ask(target)
	return conn, wire.ReadEgressReply(conn)
}

func (r *rig) counted(outcome string) float64 {
	return testutil.ToFloat64(r.gate.metrics.total.WithLabelValues("listed", outcome))
}

// echo serves what it is sent, and gives its address.
func echo(t *testing.T, network, address string) netip.AddrPort {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer conn.Close()
				_, _ = io.Copy(conn, conn)
			})
		}
	})
	t.Cleanup(func() { _ = l.Close(); serving.Wait() })
	return l.Addr().(*net.TCPAddr).AddrPort()
}

// says sends a word through a connection to echo and wants it back.
func says(t *testing.T, conn *net.UnixConn, word string) {
	t.Helper()
	if _, err := io.WriteString(conn, word); err != nil {
		t.Fatal(err)
	}
	if err := conn.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if back, err := io.ReadAll(conn); err != nil || string(back) != word {
		t.Errorf("%q came back, %v", back, err)
	}
}

func refused(t *testing.T, err error, code, words string) {
	t.Helper()
	e, ok := errors.AsType[*wire.Error](err)
	if !ok || e.Code != code || !strings.Contains(e.Message, words) {
		t.Errorf("%v; want %s with %q", err, code, words)
	}
}

func TestServe_connectsWhereItMay(t *testing.T) {
	there := echo(t, "tcp4", "127.0.0.1:0")
	dns := serveNames(t, map[string][]netip.Addr{"git.example": {there.Addr()}})
	// The name leads to an address that is named as private: its twins below do not.
	p := newPolicy(t, fmt.Sprintf("git.example:%d", there.Port()), there.String())
	r := newRig(t, "listed", Options{Policy: p, Resolver: dns.resolver()})
	for _, target := range []string{there.String(), fmt.Sprintf("git.example:%d", there.Port()), fmt.Sprintf("[::ffff:7f00:1]:%d", there.Port())} {
		conn, err := r.connect(target)
		if err != nil {
			t.Fatalf("%s: %v", target, err)
		}
		says(t, conn, strings.Repeat("hello", 50_000))
	}
	if got := r.counted(outcomeConnected); got != 3 {
		t.Errorf("%v connections were counted", got)
	}
	if r.log.String() != "" {
		t.Errorf("the log says %s", r.log)
	}
}

func TestServe_refusesWhatIsNotPublic(t *testing.T) {
	there := echo(t, "tcp4", "127.0.0.1:0")
	port := there.Port()
	addrs := func(list ...string) (all []netip.Addr) {
		for _, text := range list {
			all = append(all, netip.MustParseAddr(text))
		}
		return all
	}
	dns := serveNames(t, map[string][]netip.Addr{
		"meta.example":   addrs("169.254.169.254"),
		"meta6.example":  addrs("fd00:ec2::254"),
		"mapped.example": addrs("::ffff:127.0.0.1"),
		"house.example":  addrs("10.1.2.3"),
		"self.example":   addrs("127.0.0.1"),
		"nat.example":    addrs("64:ff9b::7f00:1"),
	})
	p := newPolicy(t, fmt.Sprintf("*.example:%d", port), "")
	for _, app := range []string{"listed", "open"} {
		r := newRig(t, app, Options{Policy: p, Resolver: dns.resolver()})
		for _, host := range []string{
			"169.254.169.254", "[fd00:ec2::254]", "[::ffff:169.254.169.254]", "127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "localhost",
			"0.0.0.0", "[::]", "meta.example", "meta6.example", "mapped.example", "house.example", "self.example", "nat.example",
		} {
			t.Run(app+" "+host, func(t *testing.T) {
				_, err := r.connect(fmt.Sprintf("%s:%d", host, port))
				refused(t, err, wire.CodeForbidden, "--egress-allow-private")
				if strings.Contains(fmt.Sprint(err), "10.1.2.3") {
					t.Error("a sandbox was told what a name leads to:", err)
				}
			})
		}
	}
}

// The name is public when it is looked at, if anybody looked before dialling,
// and is not when it counts. Asked again and again it is never connected to.
func TestServe_aNameThatChangesItsAnswerGainsNothing(t *testing.T) {
	there := echo(t, "tcp4", "127.0.0.1:0")
	public := netip.MustParseAddr("203.0.113.1")
	var answers []netip.Addr
	for range 20 {
		answers = append(answers, public, there.Addr())
	}
	dns := serveNames(t, map[string][]netip.Addr{"fickle.example": answers, "steady.example": {there.Addr()}})
	target := fmt.Sprintf("fickle.example:%d", there.Port())
	r := newRig(t, "open", Options{Policy: newPolicy(t, "", fmt.Sprintf("steady.example:%d", there.Port())), Resolver: dns.resolver()})
	inside := 0
	for range 6 {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		parsed, err := ParseTarget(target)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := r.gate.dialer.dial(ctx, parsed) // as Serve does, but with less patience for 203.0.113.1
		cancel()
		switch {
		case err == nil && conn.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().Unmap() == there.Addr():
			t.Fatal("connected to loopback")
		case err == nil:
			_ = conn.Close()
		case errors.Is(err, errNotPublic):
			inside++
		}
	}
	if inside == 0 {
		t.Error("the name never led to loopback: this test tests nothing")
	}
	conn, err := r.connect(fmt.Sprintf("steady.example:%d", there.Port()))
	if err != nil {
		t.Fatal(err)
	}
	says(t, conn, "its twin")
}

func TestServe_looksUpOnlyWhatIsListed(t *testing.T) {
	secret := strings.Repeat("c2VjcmV0", 5) + "x"
	dns := serveNames(t, map[string][]netip.Addr{})
	r := newRig(t, "listed", Options{Policy: newPolicy(t, "known.example", ""), Resolver: dns.resolver()})
	for _, target := range []string{secret + ".evil.example:443", "evil.example:443", "known.example.evil.example:443", "known.example:80"} {
		_, err := r.connect(target)
		refused(t, err, wire.CodeForbidden, "--egress-allow")
	}
	open := newRig(t, "open", Options{Policy: newPolicy(t, "", ""), Resolver: dns.resolver()})
	_, err := open.connect(secret + ".evil.example:443")
	refused(t, err, wire.CodeForbidden, "too long")
	if asked := dns.questions(); asked != "" {
		t.Errorf("the names server was asked for %s", asked)
	}
	_, err = r.connect("known.example:443")
	refused(t, err, wire.CodeUnavailable, "no such host")
	if asked := dns.questions(); !strings.Contains(asked, "known.example") || strings.Contains(asked, "evil") {
		t.Errorf("the names server was asked for %q", asked)
	}
}

func TestServe_saysWhyNot(t *testing.T) {
	closed, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	target := closed.Addr().String()
	_ = closed.Close()
	r := newRig(t, "listed", Options{Policy: newPolicy(t, "", target)})
	_, err = r.connect(target)
	refused(t, err, wire.CodeUnavailable, "refuses the connection")
	_, err = r.connect("0x7f.1:80")
	refused(t, err, wire.CodeInvalid, "unusual spelling")
	if r.counted(outcomeFailed) != 1 || r.counted(outcomeRefused) != 1 {
		t.Errorf("counted: %v failed, %v refused", r.counted(outcomeFailed), r.counted(outcomeRefused))
	}
}

func TestServe_logsARefusalOnceForATarget(t *testing.T) {
	r := newRig(t, "listed", Options{Policy: newPolicy(t, "", "")})
	for range 3 {
		for _, target := range []string{"one.example:443", "two.example:443", "user:secret@three.example:443"} {
			if _, err := r.connect(target); err == nil {
				t.Error(target, "was connected")
			}
		}
	}
	r.end()
	r.wg.Wait()
	log := r.log.String()
	if lines := strings.Count(log, "\n"); lines != 3 || strings.Count(log, "one.example") == 0 || strings.Contains(log, "secret") {
		t.Errorf("the log has %d lines:\n%s", lines, log)
	}
	for i := range 3 * maxTold {
		_, _ = r.connect(fmt.Sprintf("host%d.example:443", i))
	}
	if lines := strings.Count(r.log.String(), "\n"); lines > maxTold {
		t.Errorf("a sandbox wrote %d lines into the log", lines)
	}
}

func TestServe_boundsConnections(t *testing.T) {
	there := echo(t, "tcp4", "127.0.0.1:0")
	r := newRig(t, "listed", Options{Policy: newPolicy(t, "", there.String())})
	var held []*net.UnixConn
	for range maxSandboxConns {
		conn, err := r.connect(there.String())
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, conn)
	}
	_, err := r.connect(there.String())
	refused(t, err, wire.CodeExhausted, "as many as it may")
	says(t, held[0], "those that are open go on")
	_ = held[0].Close()
	for begin := time.Now(); ; {
		if conn, err := r.connect(there.String()); err == nil {
			says(t, conn, "a place was free")
			break
		}
		if time.Since(begin) > hang {
			t.Fatal("no place became free")
		}
	}
}

func TestServe_boundsBytes(t *testing.T) {
	there := echo(t, "tcp4", "127.0.0.1:0")
	r := newRig(t, "listed", Options{Policy: newPolicy(t, "", there.String()), MaxBytes: 1 << 20})
	conn, err := r.connect(there.String())
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(conn, io.LimitReader(zeros{}, 4<<20)) // is cut off
	if back, _ := io.Copy(io.Discard, conn); back > 1<<20 {
		t.Errorf("%d bytes came back", back)
	}
	_, err = r.connect(there.String())
	refused(t, err, wire.CodeExhausted, "--egress-max-bytes")
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestServe_endsWithTheSandbox(t *testing.T) {
	there := echo(t, "tcp4", "127.0.0.1:0")
	r := newRig(t, "listed", Options{Policy: newPolicy(t, "", there.String())})
	conn, err := r.connect(there.String())
	if err != nil {
		t.Fatal(err)
	}
	r.end()
	r.wg.Wait()
	if n, err := conn.Read(make([]byte, 1)); err == nil {
		t.Errorf("%d bytes after the end", n)
	}
}

func TestOpen_givesNothingWithoutEgress(t *testing.T) {
	g := New(Options{Policy: newPolicy(t, "", ""), Logger: slog.New(slog.DiscardHandler), Registry: prometheus.NewRegistry()})
	if outlet := g.Open("id", sandboxclient.Ref{App: "other"}); outlet != nil {
		t.Error("an app that is not named has a way out")
	}
	if outlet := g.Open("id", sandboxclient.Ref{App: "listed"}); outlet == nil {
		t.Error("an app that is named has none")
	}
}
