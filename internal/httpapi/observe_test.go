package httpapi

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"sandgate/sandboxclient"
)

func sorted(list string) string {
	names := strings.Split(list, ", ")
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// The log names the route and never what the visitor put into the request.
func TestLog_holdsNothingPrivate(t *testing.T) {
	d := newDesk()
	d.Handle("POST", "/run", "coderunner", func(c echo.Context) error {
		if _, err := ReadBody(c, 1<<20); err != nil {
			return err
		}
		return sandboxclient.Errorf(sandboxclient.CodeInvalid, "hush4")
	})
	d.serve(t, "POST", "/run?token=hush1", "code = 'hush2'", "Authorization: Bearer hush3", "X-Request-Id: r1")
	d.serve(t, "GET", "/hush5/..%2fhush6", "")
	if log := d.log.String(); strings.Contains(log, "hush") {
		t.Errorf("the log tells too much: %s", log)
	}
	lines := d.lines(t)
	for _, line := range lines {
		delete(line, "time")
		delete(line, "duration")
	}
	delete(lines[1], "request")
	want := []map[string]any{
		{
			"level": "INFO", "msg": "request", "method": "POST", "route": "/run", "status": 400.0,
			"bytes": 5.0, "remote": "192.0.2.1", "request": "r1", "app": "coderunner", "code": "invalid",
		},
		{"level": "INFO", "msg": "request", "method": "GET", "route": "unmatched", "status": 404.0, "bytes": 53.0, "remote": "192.0.2.1", "code": "not_found"},
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
}

// What a visitor does wrong is not the operator's trouble.
func TestLog_levels(t *testing.T) {
	for code, want := range map[sandboxclient.Code]string{
		sandboxclient.CodeInternal: "ERROR", sandboxclient.CodeBadGateway: "ERROR",
		sandboxclient.CodeUnavailable: "WARN", sandboxclient.CodeNoSpace: "WARN",
		sandboxclient.CodeUnsupported: "INFO", sandboxclient.CodeNotFound: "INFO", sandboxclient.CodeExhausted: "INFO",
	} {
		d := newDesk()
		d.Handle("GET", "/x", "", fails(&sandboxclient.Error{Code: code, Err: errors.New("the cause")}))
		d.serve(t, "GET", "/x", "")
		line := d.lines(t)[0]
		if told := line["error"] != nil; line["level"] != want || told != (want != "INFO") {
			t.Errorf("%s: %v", code, line)
		}
	}
}

func TestMetrics(t *testing.T) {
	d := newDesk()
	d.Handle("GET", "/files", "files", func(c echo.Context) error { return Text(c, http.StatusOK, "ok") })
	d.serve(t, "GET", "/files?path=a", "")
	d.serve(t, "GET", "/files?path=b", "")
	d.serve(t, "HEAD", "/files", "")
	d.serve(t, "POST", "/files", "")
	d.serve(t, "INVENTED1", "/files", "")
	d.serve(t, "INVENTED2", "/files", "")
	d.serve(t, "GET", "/a", "")
	d.serve(t, "GET", "/b", "")
	want := `
# HELP sandgate_http_requests_in_flight Requests that are being answered.
# TYPE sandgate_http_requests_in_flight gauge
sandgate_http_requests_in_flight 0
# HELP sandgate_http_requests_total Requests that have ended, by route, method and status (499: the client left).
# TYPE sandgate_http_requests_total counter
sandgate_http_requests_total{method="GET",route="/files",status="200"} 2
sandgate_http_requests_total{method="GET",route="unmatched",status="404"} 2
sandgate_http_requests_total{method="HEAD",route="/files",status="200"} 1
sandgate_http_requests_total{method="POST",route="/files",status="405"} 1
sandgate_http_requests_total{method="other",route="/files",status="405"} 2
`
	err := testutil.GatherAndCompare(d.registry, strings.NewReader(want),
		"sandgate_http_requests_total", "sandgate_http_requests_in_flight")
	if err != nil {
		t.Error(err)
	}
	problems, err := testutil.GatherAndLint(d.registry)
	if err != nil || len(problems) > 0 {
		t.Errorf("lint: %v, %v", problems, err)
	}
}

func TestGuard(t *testing.T) {
	cases := []struct {
		method  string
		headers []string
		status  int
	}{
		{"POST", nil, 200},
		{"POST", []string{"Host: 127.0.0.1"}, 200},
		{"POST", []string{"Host: 127.9.9.9:1"}, 200},
		{"POST", []string{"Host: [::1]:8787"}, 200},
		{"POST", []string{"Host: LOCALHOST.:8787"}, 200},
		{"POST", []string{"Host: [::ffff:127.0.0.1]"}, 200},
		{"POST", []string{"Host: sandgate.example.org:443"}, 200},
		{"POST", []string{"Host: Sandgate.Example.Org"}, 200},
		{"POST", []string{"Host: evil.example.org"}, 403},
		{"POST", []string{"Host: localhost.evil.org"}, 403},
		{"POST", []string{"Host: 10.0.0.1"}, 403},
		{"POST", []string{"Host: "}, 403},
		{"GET", []string{"Host: evil.example.org"}, 403},
		{"POST", []string{"Origin: https://evil.example.org"}, 403},
		{"POST", []string{"Origin: null"}, 403},
		{"POST", []string{"Sec-Fetch-Site: cross-site"}, 403},
		{"POST", []string{"Sec-Fetch-Site: same-site"}, 403},
		{"POST", []string{"Sec-Fetch-Site: same-origin"}, 200},
		{"POST", []string{"Sec-Fetch-Site: none"}, 200},
		{"POST", []string{"Origin: http://localhost:8787"}, 200},
		{"GET", []string{"Sec-Fetch-Site: cross-site"}, 200},
		{"DELETE", []string{"Sec-Fetch-Site: cross-site"}, 403}, // before 405: what is unsafe is not ours to discuss
	}
	ok := func(c echo.Context) error { return Text(c, http.StatusOK, "ok") }
	d := newDesk()
	d.Handle("GET", "/x", "", ok)
	d.Handle("POST", "/x", "", ok)
	for _, tc := range cases {
		if resp := d.serve(t, tc.method, "/x", "", tc.headers...); resp.StatusCode != tc.status {
			t.Errorf("%s %q: %d %q, want %d", tc.method, tc.headers, resp.StatusCode, bodyOf(t, resp), tc.status)
		}
	}
}
