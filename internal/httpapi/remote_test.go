package httpapi

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"

	"sandgate/internal/audit"
	"sandgate/internal/identity"
)

// locating answers with the address that identities, handlers and the audit log see.
type locating struct{ identity.Anybody }

func (locating) Identify(r *http.Request) (identity.Identity, error) {
	return identity.Identity{Owner: remote(r)}, nil
}

// A proxy that is trusted says where a request comes from, and nobody else does.
func TestRemote(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::1/128")}
	for name, tc := range map[string]struct {
		proxies   []netip.Prefix
		peer      string
		forwarded []string
		want      string
	}{
		"no proxy":               {nil, "10.0.0.1:1", []string{"203.0.113.9"}, "10.0.0.1"},
		"nothing forwarded":      {proxies, "10.0.0.1:1", nil, "10.0.0.1"},
		"forwarded":              {proxies, "10.0.0.1:1", []string{"203.0.113.9"}, "203.0.113.9"},
		"by way of another":      {proxies, "[2001:db8::1]:1", []string{"203.0.113.9, 10.0.0.7"}, "203.0.113.9"},
		"over both families":     {proxies, "[::ffff:10.0.0.1]:1", []string{"[2001:db8::2]"}, "2001:db8::2"},
		"from within":            {proxies, "10.0.0.1:1", []string{"10.0.0.9"}, "10.0.0.9"},
		"forged":                 {proxies, "192.0.2.1:1", []string{"203.0.113.9"}, "192.0.2.1"},
		"forged as the proxy":    {proxies, "192.0.2.1:1", []string{"10.0.0.1"}, "192.0.2.1"},
		"forged before a proxy":  {proxies, "10.0.0.1:1", []string{"198.51.100.1, 203.0.113.9"}, "203.0.113.9"},
		"forged in another line": {proxies, "10.0.0.1:1", []string{"198.51.100.1", "203.0.113.9"}, "203.0.113.9"},
		"from loopback":          {proxies, "127.0.0.1:1", []string{"203.0.113.9"}, "127.0.0.1"},
		"garbage":                {proxies, "10.0.0.1:1", []string{"\x00<script>"}, "10.0.0.1"},
		"garbage before":         {proxies, "10.0.0.1:1", []string{"unknown, 203.0.113.9"}, "203.0.113.9"},
		"garbage behind":         {proxies, "10.0.0.1:1", []string{"203.0.113.9, unknown"}, "10.0.0.1"},
		"nothing but commas":     {proxies, "10.0.0.1:1", []string{",,"}, "10.0.0.1"},
		"no address at all":      {proxies, "@", []string{"203.0.113.9"}, ""},
	} {
		d := newDesk()
		var audited audit.Entry
		api := New(Options{
			Logger: slog.New(slog.NewJSONHandler(d.log, nil)), Registry: prometheus.NewRegistry(), Guard: NewGuard(nil),
			Identifier: locating{}, Audit: func(e audit.Entry) { audited = e }, Proxies: tc.proxies,
		})
		var owner string
		api.Handle("GET", "/x", "", func(c echo.Context) error {
			owner = Identity(c).Owner
			return c.NoContent(http.StatusNoContent)
		})
		r := httptest.NewRequest("GET", "/x", nil)
		r.Host, r.RemoteAddr, r.Header["X-Forwarded-For"] = "localhost", tc.peer, tc.forwarded
		api.ServeHTTP(httptest.NewRecorder(), r)
		logged := d.lines(t)[0]["remote"]
		if owner != tc.want || audited.Remote != tc.want || logged != tc.want || r.RemoteAddr != tc.peer {
			t.Errorf("%s: %q, audited %q, logged %q, want %q", name, owner, audited.Remote, logged, tc.want)
		}
	}
}
