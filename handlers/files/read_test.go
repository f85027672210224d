package files

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/labstack/echo/v4"

	"sandgate/sandboxclient"
)

// closing counts how often a body is closed.
type closing struct {
	io.Reader
	closed int
}

func (c *closing) Close() error {
	c.closed++
	return nil
}

func holds(content string) fake {
	return fake{read: func(string, sandboxclient.ReadOptions) (*sandboxclient.File, error) {
		return &sandboxclient.File{
			Status: 200, Size: int64(len(content)), ETag: `"e"`, LastModified: "Sun, 29 Nov 2026 00:00:00 GMT",
			Body: &closing{Reader: iotest.OneByteReader(strings.NewReader(content))},
		}, nil
	}}
}

func TestGet(t *testing.T) {
	const content = "h\u00e9llo\r\n\x00\xff"
	w, err := ask(t, holds(content), "GET", "path=a.bin", "")
	if err != nil || w.Code != 200 || w.Body.String() != content {
		t.Errorf("%d %q, %v", w.Code, w.Body, err)
	}
	want := http.Header{
		"Content-Type":   {"application/octet-stream"},
		"Content-Length": {"10"},
		"Etag":           {`"e"`},
		"Last-Modified":  {"Sun, 29 Nov 2026 00:00:00 GMT"},
		"Accept-Ranges":  {"bytes"},
		"Cache-Control":  {"private, no-cache"},
	}
	if diff := cmp.Diff(want, w.Header()); diff != "" {
		t.Error(diff)
	}
}

func TestGet_types(t *testing.T) {
	const utf8Text, html = "text/plain; charset=utf-8", "<!DOCTYPE html><script>alert(1)</script>"
	for _, tc := range []struct {
		name, content, kind string
		active              bool
	}{
		{"a.py", "x", utf8Text, false},
		{"a.ts", "x", utf8Text, false},
		{"A.TXT", "x", utf8Text, false},
		{"a.md", "x", "text/markdown; charset=utf-8", false},
		{"a.js", "x", "text/javascript; charset=utf-8", false},
		{"a.json", "{}", "application/json", false},
		{"a.png", "no png", "image/png", false},
		{"a.toml", "x", "application/toml", false},
		{"a.yaml", "x", "application/yaml", false},
		{"a.svg", "<svg/>", "image/svg+xml", true},
		{"a.html", html, "text/html; charset=utf-8", true},
		{"a.xml", "<a/>", "text/xml; charset=utf-8", true},
		{"a.xhtml", "<a/>", "application/xhtml+xml", true},
		{"noext", "plain ☕\n", utf8Text, false},
		{"noext", strings.Repeat("é", 300), utf8Text, false}, // 512 bytes are 256 runes
		{"noext", "x" + strings.Repeat("é", 300), utf8Text, false},
		{"noext", "caf\xe9", "text/plain", false},
		{"noext", "", utf8Text, false},
		{"noext", html, "text/html; charset=utf-8", true},
		{"noext", "<?xml version=\"1.0\"?>", "text/xml; charset=utf-8", true},
		{"noext", "\x89PNG\x0D\x0A\x1A\x0A", "image/png", false},
		{"noext", "\x00\x01", "application/octet-stream", false},
		{"a.unknown", "%PDF-", "application/pdf", false},
		{"dir.html/noext", "x", utf8Text, false},
	} {
		for _, method := range []string{"GET", "HEAD"} {
			w, err := ask(t, holds(tc.content), method, "path="+tc.name, "")
			policy := w.Header().Get("Content-Security-Policy")
			if got := w.Header().Get("Content-Type"); err != nil || got != tc.kind || (policy != "") != tc.active {
				t.Errorf("%s %s %.10q: %q, policy %q, %v", method, tc.name, tc.content, got, policy, err)
			}
			if tc.active && !strings.HasPrefix(policy, "sandbox; default-src 'none'") {
				t.Errorf("%s: policy %q", tc.name, policy)
			}
			if want := map[string]string{"GET": tc.content}[method]; w.Body.String() != want {
				t.Errorf("%s %s: body %q", method, tc.name, w.Body)
			}
		}
	}
}

func TestGet_passesConditions(t *testing.T) {
	var got sandboxclient.ReadOptions
	s := fake{read: func(_ string, opts sandboxclient.ReadOptions) (*sandboxclient.File, error) {
		got = opts
		return &sandboxclient.File{Status: 304, Size: -1, ETag: `"e"`, Body: http.NoBody}, nil
	}}
	w, err := ask(t, s, "HEAD", "path=a", "", "Range: bytes=0-1", `If-Range: "r"`, `If-Match: "m"`, `If-None-Match: "n"`,
		"If-Modified-Since: then", "If-Unmodified-Since: since")
	want := sandboxclient.ReadOptions{
		Head: true, Range: "bytes=0-1", IfRange: `"r"`, IfMatch: `"m"`, IfNoneMatch: `"n"`, IfModifiedSince: "then", IfUnmodifiedSince: "since",
	}
	if err != nil || got != want || w.Code != 304 || w.Header().Get("ETag") != `"e"` || w.Header().Get("Content-Type") != "" {
		t.Errorf("%d %v, %+v, %v", w.Code, w.Header(), got, err)
	}
	if _, err := ask(t, s, "GET", "path=a", "", "Range: bytes=0-1,5-6", `If-Range: "r"`); err != nil || got.Range != "" || got.IfRange != "" {
		t.Errorf("of several ranges: %+v, %v", got, err)
	}
}

func TestGet_range(t *testing.T) {
	bodies := []*closing{}
	s := fake{read: func(_ string, opts sandboxclient.ReadOptions) (*sandboxclient.File, error) {
		file := &sandboxclient.File{Status: 206, Size: 3, ContentRange: "bytes 5-7/9", Body: &closing{Reader: strings.NewReader("\x00\x01\x02")}}
		if opts.Range == "bytes=0-511" { // what tells the type
			file = &sandboxclient.File{Status: 206, Size: 9, ContentRange: "bytes 0-8/9", Body: &closing{Reader: strings.NewReader("<html>\x00\x01\x02")}}
		}
		bodies = append(bodies, file.Body.(*closing))
		return file, nil
	}}
	w, err := ask(t, s, "GET", "path=page", "", "Range: bytes=5-7")
	if err != nil || w.Code != 206 || w.Body.String() != "\x00\x01\x02" || w.Header().Get("Content-Range") != "bytes 5-7/9" ||
		w.Header().Get("Content-Length") != "3" || w.Header().Get("Content-Type") != "text/html; charset=utf-8" {
		t.Errorf("%d %q %v, %v", w.Code, w.Body, w.Header(), err)
	}
	for _, b := range bodies {
		if b.closed == 0 {
			t.Error("a body stays open, and with it the sandbox in use")
		}
	}
}

func TestGet_rangeThatDoesNotFit(t *testing.T) {
	s := fake{read: func(string, sandboxclient.ReadOptions) (*sandboxclient.File, error) {
		return &sandboxclient.File{Status: 416, Size: -1, ContentRange: "bytes */9", Body: http.NoBody}, nil
	}}
	w, err := ask(t, s, "GET", "path=a", "", "Range: bytes=90-")
	if err != nil || w.Code != 416 || w.Header().Get("Content-Range") != "bytes */9" {
		t.Errorf("%d %v, %v", w.Code, w.Header(), err)
	}
}

func TestGet_download(t *testing.T) {
	for name, want := range map[string]string{
		"a.html":   `attachment; filename=a.html`,
		"d/b c.md": `attachment; filename="b c.md"`,
		"ü.txt":    `attachment; filename*=utf-8''%C3%BC.txt`,
		`q"\.txt`:  `attachment; filename="q\"\\.txt"`,
		"n%0Al":    `attachment; filename*=utf-8''n%0Al`,
	} {
		w, err := ask(t, holds("x"), "GET", "download=1&path="+strings.ReplaceAll(name, " ", "+"), "")
		if got := w.Header().Get("Content-Disposition"); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", name, got, err, want)
		}
	}
	if w, _ := ask(t, holds("x"), "GET", "path=a.html", ""); w.Header().Get("Content-Disposition") != "" {
		t.Error("a file is a download though nobody asked")
	}
}

func TestGet_directory(t *testing.T) {
	listing := &sandboxclient.Listing{Path: "/workspace", Entries: []sandboxclient.FileInfo{{
		Name: "a\n<b>", Type: "file", Size: 3, Mode: "0644", Modified: time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC),
	}}}
	s := fake{read: func(path string, _ sandboxclient.ReadOptions) (*sandboxclient.File, error) {
		return &sandboxclient.File{Status: 200, Size: -1, Listing: listing, Body: http.NoBody}, nil
	}}
	w, err := ask(t, s, "GET", "path=", "")
	want := `{"path":"/workspace","entries":[{"name":"a\n<b>","type":"file","size":3,"mode":"0644","modified":"2026-11-29T00:00:00Z"}],"truncated":false}` + "\n"
	if err != nil || w.Code != 200 || w.Body.String() != want || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("%d %s, %v", w.Code, w.Body, err)
	}
	listing = &sandboxclient.Listing{Path: "/workspace/empty"}
	if w, err = ask(t, s, "GET", "path=empty", ""); err != nil || !strings.Contains(w.Body.String(), `"entries":[]`) {
		t.Errorf("%s, %v", w.Body, err)
	}
	if w, err = ask(t, s, "HEAD", "path=", ""); err != nil || w.Code != 200 || w.Body.Len() > 0 || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("%d %s %v, %v", w.Code, w.Body, w.Header(), err)
	}
}

// Who may look at one file sees no directory in its place.
func TestGetFile(t *testing.T) {
	get := func(content *sandboxclient.File) (*httptest.ResponseRecorder, error) {
		h := New(func(string, string) Sandbox {
			return fake{read: func(string, sandboxclient.ReadOptions) (*sandboxclient.File, error) { return content, nil }}
		}, 1)
		w := httptest.NewRecorder()
		return w, h.GetFile(echo.New().NewContext(httptest.NewRequest("GET", "/files?path=a.txt", nil), w))
	}
	listing := &sandboxclient.Listing{Path: "/workspace/a.txt", Entries: []sandboxclient.FileInfo{{Name: "more"}}}
	w, err := get(&sandboxclient.File{Status: 200, Size: -1, Listing: listing, Body: http.NoBody})
	if sandboxclient.CodeOf(err) != sandboxclient.CodeNotFound || w.Body.Len() > 0 {
		t.Errorf("%v %s", err, w.Body)
	}
	w, err = get(&sandboxclient.File{Status: 200, Size: 1, Body: io.NopCloser(strings.NewReader("x"))})
	if err != nil || w.Body.String() != "x" {
		t.Errorf("%v %s", err, w.Body)
	}
}

func TestGet_errors(t *testing.T) {
	missing := fake{read: func(string, sandboxclient.ReadOptions) (*sandboxclient.File, error) {
		return nil, sandboxclient.Errorf(sandboxclient.CodeNotFound, "no such file")
	}}
	if w, err := ask(t, missing, "GET", "path=a", ""); sandboxclient.CodeOf(err) != sandboxclient.CodeNotFound || w.Body.Len() > 0 {
		t.Errorf("%v", err)
	}
	odd := fake{read: func(string, sandboxclient.ReadOptions) (*sandboxclient.File, error) {
		return &sandboxclient.File{Status: 301, Body: http.NoBody}, nil
	}}
	if _, err := ask(t, odd, "GET", "path=a", ""); sandboxclient.CodeOf(err) != sandboxclient.CodeBadGateway {
		t.Errorf("%v", err)
	}
	broken := errors.New("the sandbox died")
	cut := fake{read: func(string, sandboxclient.ReadOptions) (*sandboxclient.File, error) {
		body := io.MultiReader(strings.NewReader("part"), iotest.ErrReader(broken))
		return &sandboxclient.File{Status: 200, Size: 10, Body: &closing{Reader: body}}, nil
	}}
	if _, err := ask(t, cut, "GET", "path=a.txt", ""); !errors.Is(err, broken) {
		t.Errorf("a body that breaks off: %v", err)
	}
}

// serves is a sandbox that answers conditions as sandboxd does.
func serves(content string, modified time.Time) fake {
	return fake{read: func(_ string, opts sandboxclient.ReadOptions) (*sandboxclient.File, error) {
		r := httptest.NewRequest("GET", "/", nil)
		if opts.Head {
			r.Method = http.MethodHead
		}
		for name, value := range map[string]string{
			"Range": opts.Range, "If-Range": opts.IfRange, "If-Match": opts.IfMatch, "If-None-Match": opts.IfNoneMatch,
			"If-Modified-Since": opts.IfModifiedSince, "If-Unmodified-Since": opts.IfUnmodifiedSince,
		} {
			setIf(r.Header, name, value)
		}
		w := httptest.NewRecorder()
		w.Header().Set("ETag", `"e"`)
		w.Header().Set("Content-Type", "application/octet-stream")
		http.ServeContent(w, r, "", modified, strings.NewReader(content))
		resp := w.Result()
		if resp.StatusCode == http.StatusPreconditionFailed {
			return nil, sandboxclient.Errorf(sandboxclient.CodePreconditionFailed, "changed")
		}
		return &sandboxclient.File{
			Status: resp.StatusCode, Size: resp.ContentLength, ContentRange: resp.Header.Get("Content-Range"),
			ETag: resp.Header.Get("ETag"), LastModified: resp.Header.Get("Last-Modified"), Body: resp.Body,
		}, nil
	}}
}

// Whatever is asked of a file, the answer is all of it, the part that it says it
// is, or none.
func FuzzConditions(f *testing.F) {
	const content = "0123456789"
	modified := time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)
	for _, seed := range [][3]string{
		{"bytes=0-0", "", ""}, {"bytes=-3", `"e"`, ""}, {"bytes=5-", `"x"`, ""}, {"bytes=9-100", "", "*"}, {"bytes=10-", "", ""}, {"bytes=3-2", "", ""},
		{"bytes=0-1,4-5", "", ""}, {"bytes=0-1,", "", ""}, {"bytes=,,,0-1", "", ""}, {"bits=0-1", "", ""}, {"bytes=-", "", ""}, {"bytes=-0", "", ""}, {"bytes= - 00 ", "", ""}, {"bytes=99999999999999999999-", "", ""},
		{"", "", `"e"`}, {"", "", `W/"e", "x"`}, {"bytes=0-1", "Sun, 29 Nov 2026 00:00:00 GMT", ""}, {"bytes= 0 - 1 ", "", ""}, {"BYTES=0-1", "", ""}, {"bytes=--1", "", ""},
	} {
		f.Add(seed[0], seed[1], seed[2], false)
		f.Add(seed[0], "", seed[2], true)
	}
	f.Fuzz(func(t *testing.T, ranges, ifRange, noneMatch string, head bool) {
		method := map[bool]string{false: "GET", true: "HEAD"}[head]
		headers := []string{"Range: " + ranges, "If-Range: " + ifRange, "If-None-Match: " + noneMatch}
		w, err := ask(t, serves(content, modified), method, "path=a.bin", "", headers...)
		if err != nil {
			t.Fatalf("%q: %v", headers, err)
		}
		want := map[int]string{200: content, 206: "?", 304: "", 416: ""}
		body, known := want[w.Code]
		if w.Code == http.StatusPartialContent {
			body = part(t, content, w.Header().Get("Content-Range"))
		}
		if length := w.Header().Get("Content-Length"); w.Code <= http.StatusPartialContent && length != strconv.Itoa(len(body)) {
			t.Errorf("%s %q: Content-Length is %q", method, headers, length)
		}
		if head {
			body = ""
		}
		if !known || w.Body.String() != body {
			t.Errorf("%s %q: %d %q, want %q", method, headers, w.Code, w.Body, body)
		}
	})
}

// part cuts out what a Content-Range names.
func part(t *testing.T, content, said string) string {
	t.Helper()
	var first, last, size int
	if n, err := fmt.Sscanf(said, "bytes %d-%d/%d", &first, &last, &size); n != 3 || err != nil || size != len(content) || first > last || last >= size {
		t.Fatalf("Content-Range: %q", said)
	}
	return content[first : last+1]
}
