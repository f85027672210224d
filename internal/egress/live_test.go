package egress_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sandgate/internal/egress"
	"sandgate/internal/sandboxtest"
	"sandgate/sandboxclient"
	"sandgate/sandboxclient/wire"
)

// patience bounds one command in a sandbox.
const patience = 2 * time.Minute

// A box is a real sandbox with a way out.
type box struct {
	t *testing.T
	*sandboxclient.Sandbox
}

func newBox(t *testing.T, policy *egress.Policy, settings wire.Egress) box {
	t.Helper()
	return boxOf(t, newGate(t, policy, settings), "box")
}

func newGate(t *testing.T, policy *egress.Policy, settings wire.Egress) *egress.Gate {
	t.Helper()
	return egress.New(egress.Options{
		Policy: policy, Settings: settings,
		Logger: slog.New(slog.NewTextHandler(t.Output(), nil)), Registry: prometheus.NewRegistry(),
	})
}

func boxOf(t *testing.T, gate *egress.Gate, name string) box {
	t.Helper()
	sandboxtest.Require(t)
	client := sandboxtest.New(t, sandboxclient.Options{Egress: gate})
	b := box{t, client.Sandbox(sandboxclient.Ref{Owner: "local", App: "testrunner", Name: name})}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := b.Destroy(ctx, sandboxclient.RemoveWorkspace); err != nil {
			t.Error(err)
		}
	})
	return b
}

// sh runs a script and gives its output, both streams, and its exit code.
func (b box) sh(script string) (string, int) {
	b.t.Helper()
	result, err := b.Exec(b.t.Context(), sandboxclient.Command{Argv: []string{"bash", "-c", "exec 2>&1; " + script}, Timeout: patience})
	if err != nil {
		b.t.Fatalf("%s: %v", script, err)
	}
	return string(result.Stdout), result.Exit.ExitCode
}

// must runs a script that has to succeed and to say something.
func (b box) must(script, want string) {
	b.t.Helper()
	if out, code := b.sh(script); code != 0 || !strings.Contains(out, want) {
		b.t.Errorf("%s\nexit code %d, want %q in\n%s", script, code, want, out)
	}
}

// mustNot runs a script that has to fail.
func (b box) mustNot(script, want string) {
	b.t.Helper()
	if out, code := b.sh(script); code == 0 || !strings.Contains(out, want) {
		b.t.Errorf("%s\nexit code %d, want %q in\n%s", script, code, want, out)
	}
}

func private(t *testing.T, urls ...string) *egress.Policy {
	t.Helper()
	p := &egress.Policy{Apps: map[string]egress.Mode{"testrunner": egress.AllowList}}
	for _, text := range urls {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		target, err := egress.ParseTarget(u.Host)
		if err != nil {
			t.Fatal(err)
		}
		p.Private = append(p.Private, target)
	}
	return p
}

func serve(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s
}

// Every common client finds the way out by itself, and where it ends.
func TestSandbox_programsFindTheWayOut(t *testing.T) {
	site := serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %s of the house", r.Method, r.URL.RequestURI())
	})
	elsewhere := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "not for you") })
	git := sandboxtest.ServeGit(t)
	repo := git.AddRepository("team/project.git", fstest.MapFS{"README": {Data: []byte("a project\n")}}, sandboxtest.GitOptions{})
	b := newBox(t, private(t, site.URL, git.URL), wire.Egress{})

	const viaProxy = "export NO_PROXY= no_proxy=; " // loopback is meant to be the gateway's here
	b.must(viaProxy+"curl -sS '"+site.URL+"/a?b=%2F&c'", "GET /a?b=%2F&c of the house")
	b.must(viaProxy+"curl -sS -p '"+site.URL+"/tunnel'", "GET /tunnel of the house")
	b.must(viaProxy+`python3 -c 'import urllib.request as u; print(u.urlopen("`+site.URL+`/py").read())'`, "GET /py of the house")
	b.must(viaProxy+"git clone -q "+repo.URL+" here && cat here/README", "a project")
	b.mustNot(viaProxy+"curl -sS -f "+elsewhere.URL, "403")
	b.must(viaProxy+"curl -sS "+elsewhere.URL, "--egress-allow-private")
	b.mustNot(viaProxy+"curl -sS -p "+elsewhere.URL, "403")

	// With what they find of their own, loopback is the sandbox's.
	b.must("python3 -m http.server 8000 --bind 127.0.0.1 >/dev/null 2>&1 & sleep 0; curl -sS --retry 50 --retry-connrefused --retry-delay 1 localhost:8000/ | head -c 15", "<!DOCTYPE HTML")
	b.mustNot("curl -sS -m 10 "+site.URL, "connect to server")
}

func TestSandbox_refusesByEveryName(t *testing.T) {
	var target string
	redirecting := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, target, http.StatusFound) })
	b := newBox(t, private(t, redirecting.URL), wire.Egress{})
	gatewayPort := redirecting.Listener.Addr().(*net.TCPAddr).Port + 1
	for _, target = range []string{
		"http://169.254.169.254/latest/meta-data/", "http://[fd00:ec2::254]/", "http://[::ffff:169.254.169.254]/", "http://metadata.google.internal/",
		"http://0x7f.1/", "http://2130706433/", fmt.Sprintf("http://127.0.0.1:%d/", gatewayPort), "http://localhost/", "http://[::1]/",
	} {
		b.mustNot("export NO_PROXY= no_proxy=; curl -sS -f -m 20 '"+target+"'", "error: 40")
		b.mustNot("export NO_PROXY= no_proxy=; curl -sS -f -p -m 20 '"+target+"'", "error: 40")
		b.mustNot("export NO_PROXY= no_proxy=; curl -sS -f -L -m 20 "+redirecting.URL, "error: 40")
	}
	// Without the proxy there is still no network at all.
	b.mustNot("export NO_PROXY='*' no_proxy='*'; curl -sS -m 10 http://169.254.169.254/", "")
	b.mustNot("getent hosts example.org", "")
	b.must(`python3 - <<'EOF'
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
try:
    s.sendto(b"x", ("8.8.8.8", 53)); print("sent")
except OSError as e:
    print("no way:", e.strerror)
EOF`, "no way")
}
