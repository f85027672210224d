package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"

	"sandgate/sandboxclient"
)

// A desk is an API under test, with what it logged and counted.
type desk struct {
	*API
	log      *bytes.Buffer
	registry *prometheus.Registry
}

func newDesk() desk {
	log, registry := &bytes.Buffer{}, prometheus.NewPedanticRegistry()
	api := New(Options{
		Logger:   slog.New(slog.NewJSONHandler(log, nil)),
		Registry: registry,
		Guard:    NewGuard([]string{"sandgate.example.org"}),
	})
	return desk{api, log, registry}
}

// serve answers one request; each header is "Name: value".
func (d desk) serve(t *testing.T, method, target, body string, headers ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	r.Host = "localhost:8787"
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			r.Host = value
		}
		r.Header.Add(name, value)
	}
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	return w.Result()
}

// lines gives the access log's lines.
func (d desk) lines(t *testing.T) []map[string]any {
	t.Helper()
	var lines []map[string]any
	dec := json.NewDecoder(bytes.NewReader(d.log.Bytes()))
	for dec.More() {
		var line map[string]any
		if err := dec.Decode(&line); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	return lines
}

func bodyOf(t *testing.T, resp *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func fails(err error) echo.HandlerFunc { return func(echo.Context) error { return err } }

func TestErrors_text(t *testing.T) {
	cases := []struct {
		err         error
		status      int
		body, retry string
	}{
		{sandboxclient.Errorf(sandboxclient.CodeInvalid, "Paths must stay inside /workspace"), 400, "Paths must stay inside /workspace", ""},
		{fmt.Errorf("wrapped: %w", sandboxclient.Errorf(sandboxclient.CodeNotFound, "no such file")), 404, "no such file", ""},
		{&sandboxclient.Error{Code: sandboxclient.CodeExhausted, Message: "full", RetryAfter: 1200 * time.Millisecond}, 429, "full", "2"},
		{&sandboxclient.Error{Code: sandboxclient.CodeUnavailable, Message: "later"}, 503, "later", "2"},
		{&sandboxclient.Error{Code: sandboxclient.CodeConflict}, 409, "Conflict", ""},
		{&sandboxclient.Error{Code: sandboxclient.CodeInvalid, Message: "bad \xff name"}, 400, "bad \uFFFD name", ""},
		{&sandboxclient.Error{Code: "invented", Message: "hm"}, 500, "hm", ""},
		{echo.NewHTTPError(http.StatusUnsupportedMediaType, "x"), 400, "Unsupported Media Type", ""},
		{context.DeadlineExceeded, 504, "The request took too long", ""},
		{context.Canceled, 503, "The work was canceled", "2"}, // the client is still there
		{fmt.Errorf("x: %w", &sandboxclient.Error{Code: sandboxclient.CodeCanceled, Message: "y"}), 503, "The work was canceled", "2"},
	}
	for _, tc := range cases {
		d := newDesk()
		d.Handle("GET", "/x", "app", fails(tc.err))
		resp := d.serve(t, "GET", "/x", "")
		if body := bodyOf(t, resp); resp.StatusCode != tc.status || body != tc.body {
			t.Errorf("%v: %d %q, want %d %q", tc.err, resp.StatusCode, body, tc.status, tc.body)
		}
		if got := resp.Header.Get("Retry-After"); got != tc.retry {
			t.Errorf("%v: Retry-After %q, want %q", tc.err, got, tc.retry)
		}
		if got := resp.Header.Get("Content-Type"); got != "text/plain; charset=utf-8" {
			t.Errorf("%v: Content-Type %q", tc.err, got)
		}
	}
}

func TestErrors_json(t *testing.T) {
	d := newDesk()
	d.Handle("GET", "/x", "app", fails(sandboxclient.Errorf(sandboxclient.CodeNoSpace, "the disk is <full>")))
	resp := d.serve(t, "GET", "/x", "", "Accept: application/json", "X-Request-Id: trace-1")
	want := `{"error":{"code":"no_space","message":"the disk is <full>","requestId":"trace-1"}}` + "\n"
	if body := bodyOf(t, resp); resp.StatusCode != 507 || body != want {
		t.Errorf("%d %s, want %s", resp.StatusCode, body, want)
	}
	if got := resp.Header.Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type %q", got)
	}
}

// An error that nobody foresaw tells the visitor nothing but its request id.
func TestErrors_internalStayInside(t *testing.T) {
	for name, handler := range map[string]echo.HandlerFunc{
		"error": fails(errors.New("secret at /etc/shadow")),
		"panic": func(echo.Context) error { panic("secret at /etc/shadow") },
		"code":  fails(&sandboxclient.Error{Code: sandboxclient.CodeInternal, Message: "secret at /etc/shadow"}),
	} {
		d := newDesk()
		d.Handle("GET", "/x", "app", handler)
		resp := d.serve(t, "GET", "/x", "")
		body, id := bodyOf(t, resp), resp.Header.Get("X-Request-Id")
		if resp.StatusCode != 500 || strings.Contains(body, "secret") || !strings.Contains(body, id) || id == "" {
			t.Errorf("%s: %d %q, id %q", name, resp.StatusCode, body, id)
		}
		line := d.lines(t)[0]
		if !strings.Contains(fmt.Sprint(line["error"]), "secret") || line["request"] != id || line["level"] != "ERROR" {
			t.Errorf("%s: the log does not tell the cause: %v", name, line)
		}
	}
}

func TestStatuses_bothWays(t *testing.T) {
	for _, row := range statuses {
		if StatusOf(row.code) != row.status || CodeOf(row.status) != row.code {
			t.Errorf("%s is %d, and %d is %s", row.code, StatusOf(row.code), row.status, CodeOf(row.status))
		}
	}
	for status, want := range map[int]sandboxclient.Code{418: sandboxclient.CodeInvalid, 505: sandboxclient.CodeInternal, 200: sandboxclient.CodeInternal} {
		if got := CodeOf(status); got != want {
			t.Errorf("CodeOf(%d) = %s, want %s", status, got, want)
		}
	}
}

func TestRouter(t *testing.T) {
	ok := func(c echo.Context) error { return Text(c, http.StatusOK, "ok") }
	cases := []struct {
		method, target string
		status         int
		allow, body    string
	}{
		{"GET", "/files", 200, "", "ok"},
		{"PUT", "/files?path=a", 200, "", "ok"},
		{"POST", "/files", 405, "DELETE, GET, HEAD, OPTIONS, PUT", "This path does not take the method; it takes DELETE, GET, HEAD, OPTIONS, PUT"},
		{"PROPFIND", "/files", 405, "DELETE, GET, HEAD, OPTIONS, PUT", ""},
		{"INVENTED", "/files", 405, "DELETE, GET, HEAD, OPTIONS, PUT", ""},
		{"GET", "/run", 405, "OPTIONS, POST", ""},
		{"HEAD", "/run", 405, "OPTIONS, POST", ""},
		{"OPTIONS", "/files", 204, "DELETE, GET, HEAD, OPTIONS, PUT", ""},
		{"OPTIONS", "/run", 204, "OPTIONS, POST", ""},
		{"GET", "/nothing", 404, "", "There is nothing at this path; GET / lists the routes"},
		{"POST", "/run/", 404, "", ""},
		{"POST", "/run%2F", 404, "", ""},
		{"GET", "/", 200, "", "ok"},
		{"DELETE", "/", 405, "GET, HEAD, OPTIONS", ""},
	}
	d := newDesk()
	d.Handle("GET", "/", "", ok)
	d.Handle("POST", "/run", "runner", ok)
	d.Handle("GET", "/files", "files", ok)
	d.Handle("PUT", "/files", "files", ok)
	d.Handle("DELETE", "/files", "files", ok)
	for _, tc := range cases {
		resp := d.serve(t, tc.method, tc.target, "")
		if body := bodyOf(t, resp); resp.StatusCode != tc.status || tc.body != "" && body != tc.body {
			t.Errorf("%s %s: %d %q, want %d %q", tc.method, tc.target, resp.StatusCode, body, tc.status, tc.body)
		}
		if got := sorted(resp.Header.Get("Allow")); got != tc.allow {
			t.Errorf("%s %s: Allow %q, want %q", tc.method, tc.target, got, tc.allow)
		}
		if resp.Header.Get("X-Request-Id") == "" || resp.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s %s: headers %v", tc.method, tc.target, resp.Header)
		}
	}
}

func TestRequestID(t *testing.T) {
	d := newDesk()
	d.Handle("GET", "/x", "", fails(nil))
	for sent, kept := range map[string]bool{
		"0af7651916cd43dd8448eb211c80319c":     true,
		"a.b_c-D9":                             true,
		"":                                     false,
		strings.Repeat("a", 65):                false,
		"a b":                                  false,
		"a\tb":                                 false,
		"é":                                    false,
		`"}`:                                   false,
		"e7b6d0c8-6c5e-4c1c-9d52-0f2e8c7e0d11": true,
	} {
		got := d.serve(t, "GET", "/x", "", "X-Request-Id: "+sent).Header.Get("X-Request-Id")
		if (got == sent) != kept || got == "" {
			t.Errorf("sent %q, answered %q", sent, got)
		}
	}
}

// What has begun to be answered cannot be answered otherwise: the connection
// breaks, so that nobody takes a part for the whole.
func TestErrors_afterTheAnswerBegan(t *testing.T) {
	for name, handler := range map[string]echo.HandlerFunc{
		"error": func(c echo.Context) error {
			_, _ = c.Response().Write([]byte("part"))
			return errors.New("disk on fire")
		},
		"panic": func(c echo.Context) error {
			_, _ = c.Response().Write([]byte("part"))
			panic("disk on fire")
		},
	} {
		d := newDesk()
		d.Handle("GET", "/x", "app", handler)
		server := httptest.NewServer(d)
		resp, err := http.Get(server.URL + "/x")
		if err == nil {
			_, err = io.ReadAll(resp.Body)
			_ = resp.Body.Close()
		}
		server.Close()
		if err == nil {
			t.Errorf("%s: the client took the part for the whole", name)
		}
		if line := d.lines(t)[0]; !strings.Contains(fmt.Sprint(line["error"]), "disk on fire") {
			t.Errorf("%s: log %v", name, line)
		}
	}
}

// A client that leaves is told nothing and logged as 499, whatever the handler
// makes of it.
func TestErrors_clientLeft(t *testing.T) {
	for _, returned := range []error{
		context.Canceled,
		errors.New("write: broken pipe"),
		&sandboxclient.Error{Code: sandboxclient.CodeCanceled, Message: "canceled"},
	} {
		d := newDesk()
		entered, left := make(chan bool), make(chan bool)
		d.Handle("GET", "/x", "app", func(c echo.Context) error {
			close(entered)
			<-c.Request().Context().Done()
			defer close(left)
			return returned
		})
		server := httptest.NewServer(d)
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(conn, "GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n")
		<-entered
		_ = conn.Close()
		<-left
		server.Close() // waits for the request, and so for its log line
		if line := d.lines(t)[0]; line["status"] != float64(499) {
			t.Errorf("%v: log %v", returned, line)
		}
	}
}

// A gateway that stops tells those who wait.
func TestErrors_stopping(t *testing.T) {
	d := newDesk()
	ctx, cancel := context.WithCancelCause(t.Context())
	d.Handle("GET", "/x", "app", func(c echo.Context) error {
		c.Response().Header().Set("Location", "/executions/1")
		cancel(ErrStopping)
		return c.Request().Context().Err()
	})
	r := httptest.NewRequestWithContext(ctx, "GET", "/x", nil)
	r.Host = "localhost"
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	if w.Code != 503 || w.Body.String() != "The gateway is stopping" || w.Header().Get("Retry-After") != "5" || w.Header().Get("Location") != "/executions/1" {
		t.Errorf("%d %q %v", w.Code, w.Body, w.Header())
	}
}

func TestErrors_forgetTheContent(t *testing.T) {
	d := newDesk()
	d.Handle("GET", "/x", "app", func(c echo.Context) error {
		for _, name := range []string{"Content-Length", "Content-Range", "Content-Disposition", "ETag", "Last-Modified", "Location"} {
			c.Response().Header().Set(name, "99")
		}
		c.Response().Header().Set("Cache-Control", "public")
		return sandboxclient.Errorf(sandboxclient.CodeNotFound, "gone")
	})
	resp := d.serve(t, "GET", "/x", "")
	for _, name := range []string{"Content-Length", "Content-Range", "Content-Disposition", "ETag", "Last-Modified", "Location"} {
		if got := resp.Header.Get(name); got == "99" {
			t.Errorf("%s: %s is of the content that was not sent", name, got)
		}
	}
	if got := resp.Header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("Cache-Control %q", got)
	}
}
