package egress

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"
)

// A proxy notes what it is asked for, and connects to echo whatever that is.
type upstream struct {
	*httptest.Server
	asked chan string
	auth  chan string
}

func newUpstream(t *testing.T, start func(http.Handler) *httptest.Server, answer string) *upstream {
	there := echo(t, "tcp4", "127.0.0.1:0")
	u := &upstream{asked: make(chan string, 10), auth: make(chan string, 10)}
	u.Server = start(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u.asked <- r.Method + " " + r.Host
		u.auth <- r.Header.Get("Proxy-Authorization")
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, answer)
		if !strings.Contains(answer, " 200 ") {
			return
		}
		further, err := net.Dial("tcp", there.String())
		if err != nil {
			return
		}
		defer further.Close()
		go func() { // ends with conn
			_, _ = io.Copy(further, conn)
			_ = closeWrite(further)
		}()
		_, _ = io.Copy(conn, further)
	}))
	t.Cleanup(u.Close)
	return u
}

func (u *upstream) proxy(t *testing.T, user *url.Userinfo) func(*url.URL) (*url.URL, error) {
	t.Helper()
	proxy, err := url.Parse(u.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy.User = user
	return func(*url.URL) (*url.URL, error) { return proxy, nil }
}

const agreed = "HTTP/1.1 200 Connected\r\n\r\n"

func TestProxy_isGivenNamesThatAreListedAndAddressesOfOthers(t *testing.T) {
	up := newUpstream(t, httptest.NewServer, agreed)
	dns := serveNames(t, map[string][]netip.Addr{
		"public.example":  {netip.MustParseAddr("203.0.113.9")},
		"private.example": {netip.MustParseAddr("10.0.0.1")},
	})
	p := newPolicy(t, "unknown.example", "")
	proxy := up.proxy(t, url.UserPassword("me", "se:cret"))
	for _, c := range []struct{ app, target, asks string }{
		{"listed", "unknown.example:443", "CONNECT unknown.example:443"}, // only the proxy knows it
		{"open", "unknown.example:443", "CONNECT unknown.example:443"},
		{"open", "public.example:443", "CONNECT 203.0.113.9:443"},
		{"open", "203.0.113.10:22", "CONNECT 203.0.113.10:22"},
		{"open", "private.example:443", ""},
		{"open", "169.254.169.254:80", ""},
		{"listed", "public.example:443", ""},
	} {
		t.Run(c.app+" "+c.target, func(t *testing.T) {
			r := newRig(t, c.app, Options{Policy: p, Resolver: dns.resolver(), Proxy: proxy})
			conn, err := r.connect(c.target)
			if c.asks == "" {
				if err == nil || len(up.asked) > 0 {
					t.Errorf("%v; the proxy was asked %d times", err, len(up.asked))
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			says(t, conn, "through the proxy")
			if got := <-up.asked; got != c.asks {
				t.Errorf("the proxy was asked to %s, want %s", got, c.asks)
			}
			if got := <-up.auth; got != "Basic "+base64.StdEncoding.EncodeToString([]byte("me:se:cret")) {
				t.Errorf("the proxy was shown %q", got)
			}
		})
	}
}

func TestProxy_isNotAskedForWhatIsPrivate(t *testing.T) {
	up := newUpstream(t, httptest.NewServer, agreed)
	there := echo(t, "tcp4", "127.0.0.1:0")
	r := newRig(t, "listed", Options{Policy: newPolicy(t, "", there.String()), Proxy: up.proxy(t, nil)})
	conn, err := r.connect(there.String())
	if err != nil {
		t.Fatal(err)
	}
	says(t, conn, "directly")
	if len(up.asked) > 0 {
		t.Error("the proxy was asked")
	}
}

func TestProxy_overTLS(t *testing.T) {
	up := newUpstream(t, httptest.NewTLSServer, agreed)
	policy := newPolicy(t, "git.example", "")
	roots := up.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	r := newRig(t, "listed", Options{Policy: policy, Proxy: up.proxy(t, nil), Roots: roots})
	conn, err := r.connect("git.example:443")
	if err != nil {
		t.Fatal(err)
	}
	says(t, conn, strings.Repeat("encrypted", 10_000))

	stranger := newRig(t, "listed", Options{Policy: policy, Proxy: up.proxy(t, nil)})
	_, err = stranger.connect("git.example:443")
	refused(t, err, "unavailable", "the connection failed")
}

func TestProxy_thatDoesNotConnect(t *testing.T) {
	for answer, words := range map[string]string{
		"HTTP/1.1 403 Forbidden by the house\r\n\r\n": "answered 403 Forbidden by the house",
		"HTTP/1.1 407 Who\x00 are you\r\n\r\n":        "answered 407 Who  are you",
		"HTTP/1.1 204 Fine\r\n\r\n":                   "answered 204",
		"SSH-2.0-OpenSSH\r\n\r\n":                     "failed",
		"":                                            "failed",
		"HTTP/1.1 200 \r\nA: " + strings.Repeat("x", 1<<20): "failed",
	} {
		up := newUpstream(t, httptest.NewServer, answer)
		r := newRig(t, "listed", Options{Policy: newPolicy(t, "git.example", ""), Proxy: up.proxy(t, nil)})
		_, err := r.connect("git.example:443")
		refused(t, err, "unavailable", words)
	}
}

// A proxy may send the first bytes of the target along with its answer.
func TestTunnel_losesNothing(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	done := make(chan error, 1)
	go func() { // ends with the connection
		conn, err := l.Accept()
		if err != nil {
			done <- err
			return
		}
		defer conn.Close()
		if _, err := http.ReadRequest(bufio.NewReader(conn)); err != nil {
			done <- err
			return
		}
		_, err = io.WriteString(conn, agreed+"220 early")
		_, _ = io.Copy(io.Discard, conn)
		done <- err
	}()
	d := dialer{resolver: net.DefaultResolver}
	conn, err := d.tunnel(t.Context(), &url.URL{Scheme: "http", Host: l.Addr().String()}, "mail.example:25")
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 9)
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != "220 early" {
		t.Errorf("%q, %v", got, err)
	}
	_ = closeWrite(conn)
	if err := <-done; err != nil {
		t.Error(err)
	}
	_ = conn.Close()
}

func TestTunnel_endsWithItsContext(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0") // which nobody answers on
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	d := dialer{resolver: net.DefaultResolver}
	if _, err := d.tunnel(ctx, &url.URL{Scheme: "http", Host: l.Addr().String()}, "git.example:443"); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if got := fmt.Sprint(why(context.DeadlineExceeded)); got != "it does not answer" {
		t.Error(got)
	}
}
