package webui

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
)

var sample = fstest.MapFS{
	"index.html":          {Data: []byte(`<meta name="csp-nonce" content="%nonce%">`)},
	"assets/main-1.js":    {Data: []byte("plain script")},
	"assets/main-1.js.gz": {Data: []byte("gzip")},
	"assets/main-1.js.br": {Data: []byte("brotli")},
}

func get(t *testing.T, p *Pages, target string, header ...string) (*http.Response, string) {
	t.Helper()
	r := httptest.NewRequest("GET", target, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	body, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Result(), string(body)
}

func TestPages_everyPathIsTheApplication(t *testing.T) {
	p := newPages(sample)
	for _, target := range []string{"/app/", "/app/run", "/app/files/a/b.py", "/app/files/x?y=1", "/app/assets", "/app/assets/../run"} {
		resp, body := get(t, p, target)
		if resp.StatusCode != 200 || !strings.HasPrefix(body, "<meta") {
			t.Errorf("%s: %d %q", target, resp.StatusCode, body)
		}
	}
}

// The policy allows the one nonce that the document holds, and each document
// has its own.
func TestPages_policy(t *testing.T) {
	p := newPages(sample)
	resp, body := get(t, p, "/app/")
	policy := resp.Header.Get("Content-Security-Policy")
	_, rest, _ := strings.Cut(body, `content="`)
	nonce, _, _ := strings.Cut(rest, `"`)
	if len(nonce) < 20 || !strings.Contains(policy, "'nonce-"+nonce+"'") {
		t.Errorf("nonce %q, policy %q", nonce, policy)
	}
	for _, never := range []string{"unsafe", "*", "http:", "https:"} {
		if strings.Contains(policy, never) {
			t.Errorf("policy has %s: %s", never, policy)
		}
	}
	if _, again := get(t, p, "/app/"); again == body {
		t.Error("two documents with one nonce")
	}
}

func TestPages_assets(t *testing.T) {
	p := newPages(sample)
	for _, tc := range []struct {
		target, accept, want, encoding string
		status                         int
	}{
		{"/app/assets/main-1.js", "", "plain script", "", 200},
		{"/app/assets/main-1.js", "gzip", "gzip", "gzip", 200},
		{"/app/assets/main-1.js", "gzip, deflate, br", "brotli", "br", 200},
		{"/app/assets/main-1.js.gz", "gzip", "404 page not found\n", "", 404},
		{"/app/assets/none.js", "", "404 page not found\n", "", 404},
	} {
		resp, body := get(t, p, tc.target, "Accept-Encoding", tc.accept)
		if resp.StatusCode != tc.status || body != tc.want || resp.Header.Get("Content-Encoding") != tc.encoding {
			t.Errorf("%s (%s): %d %q %s", tc.target, tc.accept, resp.StatusCode, body, resp.Header)
		}
		if tc.status == 200 && !strings.Contains(resp.Header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %s", tc.target, resp.Header)
		}
	}
}

// What the frame shows has no origin, loads nothing and is framed by us alone.
func TestPages_frame(t *testing.T) {
	resp, body := get(t, newPages(sample), "/app/frame")
	policy := resp.Header.Get("Content-Security-Policy")
	if !strings.Contains(body, "postMessage") || !strings.HasPrefix(policy, "sandbox allow-scripts;") || strings.Contains(policy, "allow-same-origin") {
		t.Errorf("%s\n%.80s", policy, body)
	}
	for _, want := range []string{"default-src 'none'", "frame-ancestors 'self'", "form-action 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("policy lacks %s: %s", want, policy)
		}
	}
}

func TestPages_missing(t *testing.T) {
	resp, body := get(t, newPages(fstest.MapFS{}), "/app/run")
	if resp.StatusCode != 200 || !strings.Contains(body, "make build") {
		t.Errorf("%d %q", resp.StatusCode, body)
	}
}
