package npmmirror

import (
	"bytes"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A registry is one of a test's own. What it answers can be changed.
type registry struct {
	*httptest.Server
	t *testing.T

	mu      sync.Mutex
	answers map[string]http.HandlerFunc // by path, as it is escaped
	asked   []*http.Request
}

func newRegistry(t *testing.T) *registry {
	t.Helper()
	r := &registry{t: t, answers: map[string]http.HandlerFunc{}}
	r.Server = httptest.NewServer(r)
	t.Cleanup(func() { r.CloseClientConnections(); r.Close() })
	return r
}

func (r *registry) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	r.asked = append(r.asked, req)
	answer, ok := r.answers[req.URL.EscapedPath()]
	r.mu.Unlock()
	if !ok {
		http.NotFound(w, req)
		return
	}
	answer(w, req)
}

func (r *registry) answer(path string, with http.HandlerFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers[path] = with
}

// requests gives the paths that were asked for, and forgets them.
func (r *registry) requests() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var paths []string
	for _, req := range r.asked {
		paths = append(paths, req.URL.EscapedPath())
	}
	r.asked = nil
	return strings.Join(paths, " ")
}

// says answers with a text, and its ETag.
func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		etag := fmt.Sprintf("%q", text[:min(len(text), 10)])
		w.Header().Set("ETag", etag)
		if r.Header.Get("If-None-Match") == etag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = io.WriteString(w, text)
	}
}

// publish puts a package into the registry: its document, and one tarball.
func (r *registry) publish(name, tarball string) {
	sum := sha512.Sum512([]byte(tarball))
	base := name[strings.Index(name, "/")+1:]
	path := "/" + name + "/-/" + base + "-1.0.0.tgz"
	doc := fmt.Sprintf(`{"name":%q,"versions":{"1.0.0":{"dist":{"tarball":%q,"integrity":"sha512-%s"}}}}`,
		name, r.URL+path, base64.StdEncoding.EncodeToString(sum[:]))
	r.answer("/"+strings.Replace(name, "/", "%2f", 1), says(doc))
	r.answer(path, says(tarball))
}

func newMirror(t *testing.T, r *registry, change func(*Options)) *Mirror {
	t.Helper()
	u, err := url.Parse(r.URL)
	if err != nil {
		t.Fatal(err)
	}
	opts := Options{
		Registry: u, Transport: &http.Transport{}, Dir: t.TempDir(), MaxBytes: 16 << 20,
		Logger: slog.New(slog.NewTextHandler(t.Output(), nil)), Metrics: prometheus.NewRegistry(),
	}
	if change != nil {
		change(&opts)
	}
	m, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// ask asks as npm does.
func ask(t *testing.T, m *Mirror, method, path string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), method, "http://127.0.0.1:4873"+path, nil)
	req.Header.Set("Accept", abbreviated+"; q=1.0, application/json; q=0.8, */*")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	m.ServeHTTP(w, req)
	return w
}

func wants(t *testing.T, w *httptest.ResponseRecorder, status int, body string) {
	t.Helper()
	if w.Code != status || !strings.Contains(w.Body.String(), body) {
		t.Errorf("%d %.200s; want %d with %q", w.Code, w.Body, status, body)
	}
}

// age makes everything that is kept look as old as that.
func (m *Mirror) age(by time.Duration) {
	m.disk.mu.Lock()
	defer m.disk.mu.Unlock()
	for _, k := range m.disk.files {
		k.used = k.used.Add(-by)
	}
}

func (m *Mirror) counted(outcome string) int {
	return int(testutil.ToFloat64(m.metrics.requests.WithLabelValues(outcome)))
}

func TestMirror_asksOnce(t *testing.T) {
	r := newRegistry(t)
	for _, name := range []string{"mocha", "@scope/pkg", "JSONStream"} {
		r.publish(name, "tarball of "+name)
	}
	m := newMirror(t, r, nil)
	for path, want := range map[string]string{
		"/mocha":                        `"name":"mocha"`,
		"/mocha/-/mocha-1.0.0.tgz":      "tarball of mocha",
		"/@scope%2fpkg":                 `"name":"@scope/pkg"`,
		"/@scope/pkg":                   `"name":"@scope/pkg"`,
		"/@scope/pkg/-/pkg-1.0.0.tgz":   "tarball of @scope/pkg",
		"/@scope%2Fpkg/-/pkg-1.0.0.tgz": "tarball of @scope/pkg",
		"/JSONStream":                   `"name":"JSONStream"`,
	} {
		wants(t, ask(t, m, "GET", path), 200, want)
	}
	if asked := strings.Fields(r.requests()); len(asked) != 5 {
		t.Errorf("the registry was asked for %v", asked)
	}
	for range 3 {
		w := ask(t, m, "GET", "/mocha/-/mocha-1.0.0.tgz")
		wants(t, w, 200, "tarball of mocha")
		if w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Content-Length") != fmt.Sprint(w.Body.Len()) {
			t.Errorf("headers: %v", w.Header())
		}
		w = ask(t, m, "GET", "/mocha")
		if wants(t, w, 200, "mocha"); w.Header().Get("Content-Type") != abbreviated {
			t.Errorf("headers: %v", w.Header())
		}
	}
	wants(t, ask(t, m, "HEAD", "/mocha"), 200, "")
	if asked := r.requests(); asked != "" {
		t.Errorf("the registry was asked again for %s", asked)
	}
	wants(t, ask(t, m, "GET", "/mocha", "Accept", "application/json"), 200, "mocha") // all of the document is another
	if asked := r.requests(); asked != "/mocha" {
		t.Errorf("the registry was asked for %q", asked)
	}
}

func TestMirror_asksAgainForOldDocumentsAlone(t *testing.T) {
	r := newRegistry(t)
	r.publish("mocha", "tarball")
	m := newMirror(t, r, nil)
	ask(t, m, "GET", "/mocha")
	ask(t, m, "GET", "/mocha/-/mocha-1.0.0.tgz")
	r.requests()
	m.age(2 * freshTime)
	for range 2 {
		wants(t, ask(t, m, "GET", "/mocha"), 200, "mocha")
		wants(t, ask(t, m, "GET", "/mocha/-/mocha-1.0.0.tgz"), 200, "tarball")
	}
	if asked := r.requests(); asked != "/mocha" || m.counted("revalidated") != 1 {
		t.Errorf("asked for %q, %d were the same still", asked, m.counted("revalidated"))
	}
	r.answer("/mocha", says(`{"new":true}`))
	m.age(2 * freshTime)
	wants(t, ask(t, m, "GET", "/mocha"), 200, `{"new":true}`)
}

func TestMirror_keepsOldDocumentsForWhenTheRegistryFails(t *testing.T) {
	r := newRegistry(t)
	r.publish("mocha", "tarball")
	m := newMirror(t, r, nil)
	m.patience = 50 * time.Millisecond
	ask(t, m, "GET", "/mocha")
	for name, answer := range map[string]http.HandlerFunc{
		"down":    func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
		"garbage": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>hello</html>") },
		"silent":  func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	} {
		r.answer("/mocha", answer)
		m.age(2 * freshTime)
		if w := ask(t, m, "GET", "/mocha"); w.Code != 200 {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	if m.counted("stale") != 3 {
		t.Errorf("%d old documents were counted", m.counted("stale"))
	}
	r.answer("/mocha", http.NotFound) // that is an answer
	m.age(2 * freshTime)
	wants(t, ask(t, m, "GET", "/mocha"), 404, "Not found")
}

func TestMirror_tellsWhatIsWrong(t *testing.T) {
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	text := func(s string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, s) }
	}
	short := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		fmt.Fprint(w, "{")
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		status int
		words  string
	}{
		"gone":      {status(410), 404, "Not found"},
		"private":   {status(401), 401, "no credentials"},
		"forbidden": {status(403), 403, "no credentials"},
		"busy":      {status(429), 429, "asked too much"},
		"broken":    {status(500), 502, "answered 500"},
		"strange":   {status(204), 502, "answered 204"},
		"html":      {text("<html>"), 502, "makes no sense"},
		"array":     {text("[]"), 502, "makes no sense"},
		"cut":       {text(`{"name":"x"`), 502, "makes no sense"},
		"two":       {text(`{} ]`), 502, "makes no sense"},
		"deep":      {text(`{"a":` + strings.Repeat("[", 1<<20)), 502, "makes no sense"},
		"nothing":   {text(""), 502, "makes no sense"},
		"short":     {short, 502, "could not be asked"},
		"silent":    {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, 504, "in time"},
		"drips": {func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, "{")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, 504, "in time"},
		"endless": {func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				_, _ = w.Write(bytes.Repeat([]byte(" "), 1<<20))
			}
		}, 502, "too large"},
		"to http": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", http.StatusFound) }, 502, "could not be asked"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRegistry(t)
			r.answer("/loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", http.StatusFound) })
			r.answer("/x", c.answer)
			m := newMirror(t, r, nil)
			m.patience = 300 * time.Millisecond
			w := ask(t, m, "GET", "/x")
			wants(t, w, c.status, c.words)
			if !strings.HasPrefix(w.Body.String(), `{"error":"`) || w.Header().Get("Cache-Control") != "" {
				t.Errorf("npm gets %v %s", w.Header(), w.Body)
			}
			if left, _ := os.ReadDir(m.opts.Dir); len(left) > 0 {
				t.Errorf("kept: %v", left)
			}
		})
	}
}

func TestMirror_keepsNoTarballThatIsNotWhole(t *testing.T) {
	r := newRegistry(t)
	r.publish("mocha", "tarball")
	m := newMirror(t, r, nil)
	const path = "/mocha/-/mocha-1.0.0.tgz"
	r.answer(path, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "7")
		fmt.Fprint(w, "tar")
	})
	wants(t, ask(t, m, "GET", path), 502, "could not be asked")
	ask(t, m, "GET", "/mocha") // from now on its integrity is known
	r.answer(path, says("TARBALL"))
	wants(t, ask(t, m, "GET", path), 502, "not what its document says")
	r.answer(path, says("tarball"))
	wants(t, ask(t, m, "GET", path), 200, "tarball")

	large := newMirror(t, r, func(o *Options) { o.MaxBytes = 10 })
	r.answer(path, says("more than half"))
	wants(t, ask(t, large, "GET", path), 502, "too large")
}

func TestDist_check(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, _ = f.WriteString("tarball")
	sum := sha512.Sum512([]byte("tarball"))
	good := "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
	for _, c := range []struct {
		d  dist
		ok bool
	}{
		{dist{Integrity: good}, true},
		{dist{Integrity: "sha1-x " + good}, true},
		{dist{Integrity: good, Shasum: "not looked at"}, true},
		{dist{Integrity: "sha512-AAAA"}, false},
		{dist{Integrity: "sha512-AAAA", Shasum: "9f7e94ac5be9dcb4d09f4ad87ce6b1c8a6ba5dd6"}, false},
		{dist{Shasum: "0000"}, false},
		{dist{}, true},
		{dist{Integrity: "md5-x"}, true}, // nothing that is known here: npm looks itself
	} {
		if err := c.d.check(f); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c.d, err)
		}
	}
}

func TestMirror_hasPackagesAndNothingElse(t *testing.T) {
	r := newRegistry(t)
	m := newMirror(t, r, nil)
	for _, path := range []string{
		"/", "/..", "/../etc", "/.%2e/x", "/a/b", "/@scope", "/@scope/", "/@/x", "/@scope/pkg/-/", "/a/-/a.zip", "/a/-/..%2f..%2fx.tgz",
		"/a%2f..%2fb", "/a%00b", "/a%20b", "/a?write=true", "/-/v1/search?text=x", "/-/npm/v1/user", "/-/all", "/a/-/a.tgz/x", "/a/-/-rf.tgz",
		"/a/latest", "/@a/b/c", "/@a%2fb%2fc", "/a%25b", "/%E2%9C%93", "//a", "/a//b", "/http:%2f%2fevil.example", "/" + strings.Repeat("a", 300),
	} {
		wants(t, ask(t, m, "GET", path), 404, "packages and nothing else")
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "OPTIONS"} {
		wants(t, ask(t, m, method, "/mocha"), 404, "only be read")
	}
	wants(t, ask(t, m, "POST", "/-/npm/v1/security/advisories/bulk"), 404, "only be read")
	wants(t, ask(t, m, "GET", "/-/ping?write=true"), 200, "{}")
	if asked := r.requests(); asked != "" {
		t.Errorf("the registry was asked for %s", asked)
	}
}

// Nothing that a sandbox says but the name gets to the registry, so nothing
// else can change what others get.
func TestMirror_asksOnNobodysBehalf(t *testing.T) {
	r := newRegistry(t)
	r.publish("mocha", "tarball")
	m := newMirror(t, r, nil)
	hostile := []string{
		"Authorization", "Bearer stolen", "Cookie", "a=b", "X-Forwarded-Host", "evil.example", "Pacote-Integrity", "sha512-AAAA",
		"Range", "bytes=0-1", "If-None-Match", `"tarball"`, "User-Agent", "me", "Accept-Encoding", "gzip", "Npm-Scope", "x",
	}
	wants(t, ask(t, m, "GET", "/mocha/-/mocha-1.0.0.tgz", hostile...), 200, "tarball")
	wants(t, ask(t, m, "GET", "/mocha", hostile...), 200, "mocha")
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, req := range r.asked {
		for name := range req.Header {
			switch name {
			case "Accept", "Accept-Encoding", "User-Agent":
			default:
				t.Errorf("the registry was told %s: %s", name, req.Header[name])
			}
		}
		if req.UserAgent() != "sandgate" || strings.Contains(req.Host, "127.0.0.1:4873") {
			t.Errorf("the registry was asked by %s for %s", req.UserAgent(), req.Host)
		}
	}
}

func TestMirror_rewritesWhereTarballsLie(t *testing.T) {
	r := newRegistry(t)
	r.publish("mocha", "tarball")
	r.answer("/odd", says(`{"a": "`+strings.ReplaceAll(r.URL, "/", `\/`)+`\/odd\/-\/odd.tgz","b":"https://cdn.example/x.tgz"}`))
	m := newMirror(t, r, func(o *Options) { o.Rewrite = true })
	for range 2 {
		w := ask(t, m, "GET", "/mocha")
		wants(t, w, 200, `"tarball":"http://127.0.0.1:4873/mocha/-/mocha-1.0.0.tgz"`)
		if w.Header().Get("Content-Length") != fmt.Sprint(w.Body.Len()) || strings.Contains(w.Body.String(), r.URL) {
			t.Errorf("%v %s", w.Header(), w.Body)
		}
	}
	wants(t, ask(t, m, "GET", "/odd"), 200, `{"a": "http://127.0.0.1:4873/odd\/-\/odd.tgz","b":"https://cdn.example/x.tgz"}`)
	wants(t, ask(t, m, "GET", "/mocha/-/mocha-1.0.0.tgz"), 200, "tarball") // whose document is the registry's
	plain := newMirror(t, r, nil)
	wants(t, ask(t, plain, "GET", "/mocha"), 200, `"tarball":"`+r.URL)
}

func TestMirror_fetchesOnceForAll(t *testing.T) {
	r := newRegistry(t)
	release := make(chan struct{})
	r.answer("/mocha/-/mocha-1.0.0.tgz", func(w http.ResponseWriter, _ *http.Request) {
		<-release
		fmt.Fprint(w, "tarball")
	})
	m := newMirror(t, r, nil)
	gone, leave := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() { // the one who came first, and left
		req := httptest.NewRequestWithContext(gone, "GET", "http://127.0.0.1/mocha/-/mocha-1.0.0.tgz", nil)
		m.ServeHTTP(httptest.NewRecorder(), req)
	})
	for range 20 {
		all.Go(func() { wants(t, ask(t, m, "GET", "/mocha/-/mocha-1.0.0.tgz"), 200, "tarball") })
	}
	for r.asks() == 0 {
		<-time.After(time.Millisecond)
	}
	leave()
	close(release)
	all.Wait()
	if n := r.asks(); n != 1 {
		t.Errorf("the registry was asked %d times", n)
	}
}

func (r *registry) asks() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.asked)
}

func TestClose_endsFetches(t *testing.T) {
	r := newRegistry(t)
	r.answer("/mocha", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	m := newMirror(t, r, nil)
	var asking sync.WaitGroup
	asking.Go(func() { ask(t, m, "GET", "/mocha") })
	for r.asks() == 0 {
		<-time.After(time.Millisecond)
	}
	_ = m.Close()
	asking.Wait()
	ask(t, m, "GET", "/mocha")
	if n := r.asks(); n != 1 {
		t.Errorf("the registry was asked %d times", n)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"/a", "/@a%2fb", "/@a/b/-/b-1.tgz", "/..%2f", "/a/-/..tgz"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		u, err := url.ParseRequestURI(path)
		if err != nil {
			return
		}
		res, ok := parse(&http.Request{URL: u})
		if !ok {
			return
		}
		below := "/" + res.path()
		if strings.ContainsAny(below, "?#\\ \x00\n") || strings.Contains(below, "/.") || strings.Contains(below, "//") {
			t.Errorf("%q asks for %q", path, below)
		}
		again, err := url.ParseRequestURI(below)
		if err != nil {
			t.Fatal(err)
		}
		if same, ok := parse(&http.Request{URL: again}); !ok || same != res {
			t.Errorf("%q asks for %+v, then for %+v", path, res, same)
		}
	})
}
