package files

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"sandgate/sandboxclient"
)

// fake is a sandbox made of functions; one that is nil must not be called.
type fake struct {
	read   func(path string, opts sandboxclient.ReadOptions) (*sandboxclient.File, error)
	write  func(path string, body io.Reader, opts sandboxclient.WriteOptions) (sandboxclient.FileInfo, error)
	remove func(path string, recursive bool) error
	mkdir  func(path string) (sandboxclient.FileInfo, error)
	rename func(from, to string, replace bool) (sandboxclient.FileInfo, error)
}

var _ Sandbox = fake{}

func (f fake) ReadFile(_ context.Context, path string, opts sandboxclient.ReadOptions) (*sandboxclient.File, error) {
	return f.read(path, opts)
}

func (f fake) WriteFile(_ context.Context, path string, body io.Reader, opts sandboxclient.WriteOptions) (sandboxclient.FileInfo, error) {
	return f.write(path, body, opts)
}

func (f fake) RemoveFile(_ context.Context, path string, recursive bool) error {
	return f.remove(path, recursive)
}

func (f fake) MakeDir(_ context.Context, path string) (sandboxclient.FileInfo, error) {
	return f.mkdir(path)
}

func (f fake) Rename(_ context.Context, from, to string, replace bool) (sandboxclient.FileInfo, error) {
	return f.rename(from, to, replace)
}

const maxUpload = 1000

// ask sends one request to the method's handler; each header is "Name: value".
func ask(t testing.TB, s Sandbox, method, query, body string, headers ...string) (*httptest.ResponseRecorder, error) {
	t.Helper()
	h := New(func(owner, name string) Sandbox {
		if owner != "local" || name != "files" {
			t.Errorf("opened %s of %s", name, owner)
		}
		return s
	}, maxUpload)
	handler := map[string]echo.HandlerFunc{"GET": h.Get, "HEAD": h.Get, "PUT": h.Put, "DELETE": h.Delete, "POST": h.Post}[method]
	r := httptest.NewRequest(method, "/files?"+query, strings.NewReader(body))
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	return w, handler(echo.New().NewContext(r, w))
}

// What leaves the workspace, or is no path, never reaches the sandbox.
func TestPath_refused(t *testing.T) {
	const outside = "Paths must stay inside /workspace"
	for query, want := range map[string]string{
		"":                                   outside,
		"other=a":                            outside,
		"path=../etc/passwd":                 outside,
		"path=..%2Fetc%2Fpasswd":             outside,
		"path=%2e%2e/etc/passwd":             outside,
		"path=/etc/passwd":                   outside,
		"path=//etc":                         outside,
		"path=/workspace/../etc/passwd":      outside,
		"path=/workspacefoo":                 outside,
		"path=/":                             outside,
		"path=..":                            outside,
		"path=a/../../b":                     outside,
		"path=a%00b":                         "A path cannot hold a NUL byte",
		"path=" + strings.Repeat("d/", 2500): "The path is longer than 4096 bytes",
		"path=" + strings.Repeat("x", 256):   "A name in the path is longer than 255 bytes",
		"path=" + strings.Repeat("é", 128):   "A name in the path is longer than 255 bytes",
	} {
		for _, method := range []string{"GET", "HEAD", "PUT", "DELETE"} {
			_, err := ask(t, fake{}, method, query, "body")
			e, ok := errors.AsType[*sandboxclient.Error](err)
			if !ok || e.Code != sandboxclient.CodeInvalid || e.Message != want {
				t.Errorf("%s %.40s: %v, want %s", method, query, err, want)
			}
		}
	}
}

func TestPath_resolved(t *testing.T) {
	for query, want := range map[string]string{
		"path=":                            "/workspace",
		"path=.":                           "/workspace",
		"path=a.txt":                       "/workspace/a.txt",
		"path=/workspace/a.txt":            "/workspace/a.txt",
		"path=a//b/./c/":                   "/workspace/a/b/c",
		"path=../workspace/a":              "/workspace/a",
		"path=sp%20ace+plus.txt":           "/workspace/sp ace plus.txt",
		"path=%252e%252e/etc/passwd":       "/workspace/%2e%2e/etc/passwd",
		"path=..\\etc":                     "/workspace/..\\etc",
		"path=100%25":                      "/workspace/100%",
		"path=a;b":                         "/workspace/a;b",
		"path=ünï/ć.txt":                   "/workspace/ünï/ć.txt",
		"path=%ff":                         "/workspace/\xff",
		"path=" + strings.Repeat("x", 255): "/workspace/" + strings.Repeat("x", 255),
		"path=a&path=../etc/passwd":        "/workspace/a",
	} {
		got := ""
		s := fake{remove: func(path string, _ bool) error {
			got = path
			return nil
		}}
		if w, err := ask(t, s, "DELETE", query, ""); err != nil || w.Code != 204 || got != want {
			t.Errorf("%.40s: %d %q, %v, want %q", query, w.Code, got, err, want)
		}
	}
}

// A path that comes through is inside /workspace, however it was written.
func FuzzPath(f *testing.F) {
	for _, seed := range []string{"a", "../x", "/workspace/../etc", "a\x00", "....//", "%2e%2e"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, typed string) {
		s := fake{remove: func(path string, _ bool) error {
			inside := path == "/workspace" || strings.HasPrefix(path, "/workspace/")
			if !inside || strings.Contains(path+"/", "/../") || strings.ContainsRune(path, 0) || len(path) > maxPath {
				t.Errorf("%q became %q", typed, path)
			}
			return nil
		}}
		_, err := ask(t, s, "DELETE", "path="+url.QueryEscape(typed), "")
		if err != nil && sandboxclient.CodeOf(err) != sandboxclient.CodeInvalid {
			t.Errorf("%q: %v", typed, err)
		}
	})
}

func TestPut(t *testing.T) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	s := fake{write: func(path string, body io.Reader, opts sandboxclient.WriteOptions) (sandboxclient.FileInfo, error) {
		data, err := io.ReadAll(body)
		want := sandboxclient.WriteOptions{IfMatch: `"1"`, IfNoneMatch: "*", MaxBytes: maxUpload}
		if err != nil || !bytes.Equal(data, every) || path != "/workspace/img/pic.png" || opts != want {
			t.Errorf("%s: %d bytes, %v, %+v", path, len(data), err, opts)
		}
		return sandboxclient.FileInfo{Size: int64(len(data)), ETag: `"2"`}, nil
	}}
	w, err := ask(t, s, "PUT", "path=img/pic.png", string(every), `If-Match: "1"`, "If-None-Match: *")
	want := `{"saved":"/workspace/img/pic.png","size":256,"etag":"\"2\""}` + "\n"
	if err != nil || w.Code != 200 || w.Body.String() != want || w.Header().Get("ETag") != `"2"` {
		t.Errorf("%d %s %v, %v", w.Code, w.Body, w.Header(), err)
	}
}

func TestPut_errors(t *testing.T) {
	reads := fake{write: func(_ string, body io.Reader, _ sandboxclient.WriteOptions) (sandboxclient.FileInfo, error) {
		if _, err := io.ReadAll(body); err != nil { // whatever a sandbox makes of it, the visitor is told the cause
			return sandboxclient.FileInfo{}, sandboxclient.Errorf(sandboxclient.CodeUnavailable, "broken")
		}
		return sandboxclient.FileInfo{}, sandboxclient.Errorf(sandboxclient.CodePreconditionFailed, "changed")
	}}
	refuses := fake{write: func(string, io.Reader, sandboxclient.WriteOptions) (sandboxclient.FileInfo, error) {
		return sandboxclient.FileInfo{}, sandboxclient.Errorf(sandboxclient.CodeConflict, "a directory")
	}}
	big := strings.Repeat("x", maxUpload+1)
	for name, tc := range map[string]struct {
		sandbox Sandbox
		body    string
		header  string
		code    sandboxclient.Code
	}{
		"announced too large":   {fake{}, big, "X: y", sandboxclient.CodeTooLarge},
		"a part":                {fake{}, "x", "Content-Range: bytes 0-0/5", sandboxclient.CodeInvalid},
		"precondition":          {reads, "x", "If-Match: x", sandboxclient.CodePreconditionFailed},
		"refused before a read": {refuses, "x", "X: y", sandboxclient.CodeConflict},
	} {
		w, err := ask(t, tc.sandbox, "PUT", "path=a", tc.body, tc.header)
		if sandboxclient.CodeOf(err) != tc.code || w.Body.Len() > 0 {
			t.Errorf("%s: %v, want %s", name, err, tc.code)
		}
	}

	h := New(func(string, string) Sandbox { return reads }, maxUpload)
	r := httptest.NewRequest("PUT", "/files?path=a", io.MultiReader(strings.NewReader(big))) // of unknown length
	err := h.Put(echo.New().NewContext(r, httptest.NewRecorder()))
	if sandboxclient.CodeOf(err) != sandboxclient.CodeTooLarge {
		t.Errorf("unannounced too large: %v", err)
	}
}

func TestDelete(t *testing.T) {
	for query, want := range map[string]bool{"path=d": false, "path=d&recursive=true": true, "path=d&recursive=false": false, "path=d&recursive": true} {
		s := fake{remove: func(_ string, recursive bool) error {
			if recursive != want {
				t.Errorf("%s: recursive is %v", query, recursive)
			}
			return sandboxclient.Errorf(sandboxclient.CodeConflict, "not empty")
		}}
		if _, err := ask(t, s, "DELETE", query, ""); sandboxclient.CodeOf(err) != sandboxclient.CodeConflict {
			t.Errorf("%s: %v", query, err)
		}
	}
}

// A switch that says neither true nor false is not taken for one that is off.
func TestSwitches_refuseWhatTheyDoNotUnderstand(t *testing.T) {
	for query, method := range map[string]string{
		"path=d&recursive=maybe": "DELETE", "path=d&recursive=": "DELETE", "path=b&from=a&replace=maybe": "POST", "path=a&download=maybe": "GET",
	} {
		if _, err := ask(t, holds("x"), method, query, ""); sandboxclient.CodeOf(err) != sandboxclient.CodeInvalid {
			t.Errorf("%s: %v", query, err)
		}
	}
}
