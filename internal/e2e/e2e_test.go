// Package e2e drives the shipped binary over HTTP, on real gVisor sandboxes.
package e2e

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"sandgate/internal/sandboxtest"
)

// start runs a gateway for a test; it must end cleanly with it and leave nothing.
func start(t *testing.T, args ...string) *sandboxtest.Gateway {
	t.Helper()
	return startIn(t, stateDir(t), args...)
}

// stateDir gives a short path, as sockets need.
func stateDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// startIn starts a gateway without sandboxes that nobody has asked for: a test
// finds those in the state directory that it made. The shared gateway has them.
func startIn(t *testing.T, dir string, args ...string) *sandboxtest.Gateway {
	t.Helper()
	sandboxtest.Require(t)
	g, err := sandboxtest.StartGateway(dir, append([]string{"--warm=false", "--pool=0"}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, g) })
	return g
}

func stop(t *testing.T, g *sandboxtest.Gateway) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := g.Stop(ctx); err != nil {
		t.Errorf("stop: %v", err)
	}
	if t.Failed() {
		t.Logf("the gateway's log:\n%s", g.Log())
	}
}

// answer is what the gateway said.
type answer struct {
	t      *testing.T
	status int
	header http.Header
	body   string
}

// ask sends a request as curl would: -d's content type on a POST.
func ask(t *testing.T, method, target, body string, header ...string) answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	return askContext(ctx, t, method, target, strings.NewReader(body), header...)
}

func askContext(ctx context.Context, t *testing.T, method, target string, body io.Reader, header ...string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, target, body)
	if err != nil {
		t.Fatal(err)
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatalf("%s %s: %v", method, target, err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%s %s: read: %v", method, target, err)
	}
	return answer{t, resp.StatusCode, resp.Header, string(data)}
}

// is checks status and whole body.
func (a answer) is(status int, body string) {
	a.t.Helper()
	if a.status != status || a.body != body {
		a.t.Errorf("got %d %q, want %d %q", a.status, a.body, status, body)
	}
}

// has checks the status, and the body for each part.
func (a answer) has(status int, parts ...string) answer {
	a.t.Helper()
	if a.status != status {
		a.t.Errorf("got %d %q, want %d", a.status, a.body, status)
	}
	for _, part := range parts {
		if !strings.Contains(a.body, part) {
			a.t.Errorf("%q is not in %q", part, a.body)
		}
	}
	return a
}

// cell is the answer of a run or of a notebook's cell.
type cell struct {
	Output         []string
	Errors         []string
	Values         []string
	Results        []map[string]any
	Error          *struct{ Name, Message string }
	Status         string
	ExecutionCount int
	Start          string
	Restart        string
	Generation     int
	Truncated      bool
	KernelDied     string
}

// cell decodes the answer, which must be a 200.
func (a answer) cell() cell {
	a.t.Helper()
	var c cell
	if a.status != http.StatusOK {
		a.t.Fatalf("got %d %q, want a cell's answer", a.status, a.body)
	}
	if err := json.Unmarshal([]byte(a.body), &c); err != nil {
		a.t.Fatalf("%v in %q", err, a.body)
	}
	return c
}

func run(t *testing.T, g *sandboxtest.Gateway, code string) cell {
	t.Helper()
	return ask(t, http.MethodPost, g.URL+"/run", code).cell()
}

func notebook(t *testing.T, g *sandboxtest.Gateway, name, code string) cell {
	t.Helper()
	return ask(t, http.MethodPost, g.URL+"/notebook?notebook="+url.QueryEscape(name), code).cell()
}

func file(g *sandboxtest.Gateway, path string) string {
	return g.URL + "/files?path=" + url.QueryEscape(path)
}

func search(g *sandboxtest.Gateway, q string) string {
	return g.URL + "/search?q=" + url.QueryEscape(q)
}
