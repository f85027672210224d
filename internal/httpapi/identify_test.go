package httpapi

import (
	"io"
	"log/slog"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"

	"sandgate/internal/audit"
	"sandgate/internal/identity"
	"sandgate/sandboxclient"
)

// names identifies by the Authorization header as it is.
type names map[string]identity.Identity

func (n names) Identify(r *http.Request) (identity.Identity, error) {
	id, ok := n[r.Header.Get("Authorization")]
	if !ok {
		return id, sandboxclient.Errorf(sandboxclient.CodeUnauthenticated, "Who are you?")
	}
	return id, nil
}

// asking is a desk that asks who comes, and keeps what it audits.
func asking(audited *[]audit.Entry) desk {
	api := New(Options{
		Logger: slog.New(slog.DiscardHandler), Registry: prometheus.NewRegistry(), Guard: NewGuard(nil),
		Identifier: names{
			"alice": {Owner: "alice", Key: "1"},
			"ops":   {Owner: "ops", Key: "2", Admin: true},
		},
		Audit: func(e audit.Entry) { *audited = append(*audited, e) },
	})
	says := func(c echo.Context) error { return Text(c, 200, Owner(c)+"?"+c.Request().URL.RawQuery) }
	api.Handle("GET", "/notebook", "notebook", says)
	api.Handle("DELETE", "/tests/:run", "testrunner", says)
	api.Handle("POST", "/backups/:id", "backups", func(c echo.Context) error {
		Concerns(c, "notebook", "n")
		if c.QueryParams().Has("events") {
			Made(c, "9")
		} else {
			c.Response().Header().Set("Location", "/tests/9")
		}
		return c.NoContent(http.StatusCreated)
	})
	api.Public("GET", "/app", "pages", func(c echo.Context) error { return c.NoContent(204) })
	api.Public("GET", "/wrong", "pages", says)
	api.Public("POST", "/door", "door", func(c echo.Context) error {
		Become(c, identity.Identity{Owner: "carol", Key: "3"})
		return c.NoContent(204)
	})
	api.Public("DELETE", "/door", "door", func(c echo.Context) error { return c.NoContent(204) })
	return desk{API: api}
}

func TestIdentified(t *testing.T) {
	var audited []audit.Entry
	d := asking(&audited)
	for _, tc := range []struct {
		who, method, target string
		status              int
		body                string
	}{
		{"", "GET", "/notebook", 401, "Who are you?"},
		{"", "GET", "/nowhere", 401, "Who are you?"},
		{"", "PATCH", "/notebook", 401, "Who are you?"},
		{"", "GET", "/app", 204, ""},
		{"", "HEAD", "/app", 204, ""},
		{"", "GET", "/wrong", 500, ""},
		{"alice", "GET", "/notebook?a=b", 200, "alice?a=b"},
		{"alice", "GET", "/nowhere", 404, "There is nothing at this path; GET / lists the routes"},
		{"alice", "GET", "/notebook?owner=bob", 403, "Only an admin's key may name another owner"},
		{"ops", "GET", "/notebook?a=%20b&owner=bob&c=;", 200, "bob?a=%20b&c=;"},
		{"ops", "GET", "/notebook?%6Fwner=bob", 200, "bob?"},
		{"ops", "DELETE", "/tests/7?owner=bob", 403, "An admin may look at what another owner has, and not change it"},
	} {
		resp := d.serve(t, tc.method, tc.target, "", "Authorization: "+tc.who)
		body, _ := io.ReadAll(resp.Body)
		if resp.StatusCode != tc.status || tc.body != "" && string(body) != tc.body {
			t.Errorf("%s %s %s: %d %s", tc.who, tc.method, tc.target, resp.StatusCode, body)
		}
		if challenge := resp.Header.Get("WWW-Authenticate"); (challenge == `Bearer realm="sandgate"`) != (tc.status == 401) {
			t.Errorf("%s %s: challenge %q", tc.method, tc.target, challenge)
		}
	}
}

// The audit tells who did what to what, and nothing of it.
func TestAudit(t *testing.T) {
	var audited []audit.Entry
	d := asking(&audited)
	d.serve(t, "GET", "/app", "")
	d.serve(t, "GET", "/notebook?notebook=n&code=secret", "secret", "Authorization: alice")
	d.serve(t, "GET", "/notebook?owner=alice", "", "Authorization: ops")
	d.serve(t, "DELETE", "/tests/7", "", "Authorization: mallory")
	d.serve(t, "POST", "/door", "")
	d.serve(t, "DELETE", "/door", "")
	d.serve(t, "DELETE", "/tests/7", "", "Authorization: alice")
	d.serve(t, "PUT", "/notebook", "", "Authorization: alice")
	d.serve(t, "POST", "/backups/5", "", "Authorization: alice")
	d.serve(t, "POST", "/backups/5?events", "", "Authorization: alice")
	made := map[string]string{"id": "5", "app": "notebook", "name": "n", "made": "9"}
	want := []audit.Entry{
		{Owner: "alice", Key: "1", Action: "GET /notebook", App: "notebook", Target: map[string]string{"notebook": "n"}, Outcome: "ok", Status: 200, Minor: true},
		{Owner: "alice", By: "ops", Key: "2", Action: "GET /notebook", App: "notebook", Outcome: "ok", Status: 200, Minor: true},
		{Action: "DELETE /tests/:run", App: "testrunner", Target: map[string]string{"run": "7"}, Outcome: "unauthenticated", Status: 401, Minor: true},
		{Owner: "carol", Key: "3", Action: "POST /door", App: "door", Outcome: "ok", Status: 204},
		{Action: "DELETE /door", App: "door", Outcome: "ok", Status: 204},
		{Owner: "alice", Key: "1", Action: "DELETE /tests/:run", App: "testrunner", Target: map[string]string{"run": "7"}, Outcome: "ok", Status: 200},
		{Owner: "alice", Key: "1", Action: "PUT /notebook", App: "notebook", Outcome: "method_not_allowed", Status: 405, Minor: true},
		{Owner: "alice", Key: "1", Action: "POST /backups/:id", App: "backups", Target: made, Outcome: "ok", Status: 201},
		{Owner: "alice", Key: "1", Action: "POST /backups/:id", App: "backups", Target: made, Outcome: "ok", Status: 201},
	}
	if len(audited) != len(want) {
		t.Fatalf("%+v", audited)
	}
	for i, got := range audited {
		if got.Time.IsZero() || got.Request == "" || got.Remote != "192.0.2.1" {
			t.Errorf("%+v", got)
		}
		want[i].Time, want[i].Request, want[i].Remote = got.Time, got.Request, got.Remote
		if cmp.Diff(want[i], got) != "" {
			t.Error(cmp.Diff(want[i], got))
		}
	}
}
