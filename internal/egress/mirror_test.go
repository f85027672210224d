package egress

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"sandgate/sandboxclient/wire"
)

func newMirrorRig(t *testing.T, opts Options, handler http.HandlerFunc) *rig {
	t.Helper()
	opts.Policy = newPolicy(t, "", "")
	r := newRig(t, "listed", opts)
	r.gate.Mirror(handler)
	return r
}

func TestMirror_isAnsweredHere(t *testing.T) {
	r := newMirrorRig(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s", r.Method, r.URL, body)
	})
	if settings := r.outlet.Settings(); !settings.Mirror {
		t.Errorf("the sandbox is told %+v", settings)
	}
	conn, err := r.connect(wire.MirrorTarget)
	if err != nil {
		t.Fatal(err)
	}
	reader := bufio.NewReader(conn)
	for i := range 3 { // npm keeps its connections
		fmt.Fprintf(conn, "PUT /mocha HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n%d", i)
		resp, err := http.ReadResponse(reader, nil)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		if want := fmt.Sprintf("PUT /mocha %d", i); string(body) != want {
			t.Errorf("%q, want %q", body, want)
		}
	}
	if got := testutil.ToFloat64(r.gate.metrics.bytes.WithLabelValues("listed", "sent")); got < 100 {
		t.Errorf("%v bytes were counted", got)
	}
	_ = conn.Close()
	r.wg.Wait() // it ends with its connection
}

func TestMirror_isNotThereUnlessItIsSet(t *testing.T) {
	r := newRig(t, "listed", Options{Policy: newPolicy(t, "", "")})
	_, err := r.connect(wire.MirrorTarget)
	refused(t, err, wire.CodeForbidden, "npm.sandgate:80")
}

func TestMirror_endsWithTheSandbox(t *testing.T) {
	entered := make(chan struct{})
	r := newMirrorRig(t, Options{}, func(_ http.ResponseWriter, r *http.Request) {
		close(entered)
		<-r.Context().Done()
	})
	conn, err := r.connect(wire.MirrorTarget)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	<-entered
	r.end()
	r.wg.Wait()
	// What was answered at the last moment may still come; then the connection ends.
	if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the connection outlives its sandbox")
	}
}

func TestMirror_countsBytes(t *testing.T) {
	r := newMirrorRig(t, Options{MaxBytes: 1 << 20}, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.Copy(w, io.LimitReader(zeros{}, 4<<20))
	})
	conn, err := r.connect(wire.MirrorTarget)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if n, _ := io.Copy(io.Discard, conn); n > 2<<20 {
		t.Errorf("%d bytes passed", n)
	}
	_, err = r.connect(wire.MirrorTarget)
	refused(t, err, wire.CodeExhausted, "--egress-max-bytes")
}

func TestMirror_survivesNonsense(t *testing.T) {
	r := newMirrorRig(t, Options{}, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") })
	for _, text := range []string{"\x16\x03\x01", "GET / HTTP/9\r\n\r\n", "GET /" + strings.Repeat("x", 4<<20), ""} {
		conn, err := r.connect(wire.MirrorTarget)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, text) // it may hang up before the end
		_ = conn.CloseWrite()
		if answer, _ := io.ReadAll(conn); strings.Contains(string(answer), "hello") {
			t.Errorf("%.20q was answered with %s", text, answer)
		}
	}
	r.wg.Wait()
}

// The gateway itself reaches the registry wherever it is, and what that
// redirects to only where that is public.
func TestTransport(t *testing.T) {
	inside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "secret") }))
	defer inside.Close()
	var location string
	registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			fmt.Fprint(w, "package")
			return
		}
		http.Redirect(w, r, location, http.StatusFound)
	}))
	defer registry.Close()
	dns := serveNames(t, map[string][]netip.Addr{"evil.example": {netip.MustParseAddr("127.0.0.1")}})
	r := newRig(t, "listed", Options{Policy: newPolicy(t, "", ""), Resolver: dns.resolver()})
	target, err := ParseTarget(registry.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	transport := r.gate.Transport(target)
	client := &http.Client{Transport: transport, Timeout: hang}
	defer client.CloseIdleConnections()
	resp, err := client.Get(registry.URL + "/")
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	if string(body) != "package" {
		t.Errorf("the registry says %q", body)
	}
	port := inside.Listener.Addr().(*net.TCPAddr).Port
	for _, host := range []string{"127.0.0.1", "localhost", "evil.example", "[::ffff:127.0.0.1]", "0x7f.1"} {
		location = fmt.Sprintf("http://%s:%d/", host, port)
		resp, err := client.Get(registry.URL + "/elsewhere")
		if err == nil {
			resp.Body.Close()
			t.Errorf("%s was reached", location)
		}
	}
}
