package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"

	"sandgate/internal/httpapi"
	"sandgate/internal/identity"
)

func TestTrustedProxies(t *testing.T) {
	c := Config{TrustedProxies: []string{"127.0.0.1", "::1", "::ffff:10.0.0.7", "10.1.0.0/16", "2001:db8::/32"}}
	var got []string
	for _, net := range c.trustedProxies() {
		got = append(got, net.String())
	}
	if diff := cmp.Diff([]string{"127.0.0.1/32", "::1/128", "10.0.0.7/32", "10.1.0.0/16", "2001:db8::/32"}, got); diff != "" {
		t.Error(diff)
	}
}

// Whoever shows wrong keys keeps out nobody else who comes by way of the same proxy;
// without one, whatever is forged, nobody has a second account of tries.
func TestProxies_floodsAreTheClients(t *testing.T) {
	for name, tc := range map[string]struct {
		peer string
		want int // for another client, with a key that nobody has shown yet
	}{
		"by way of the proxy": {"10.0.0.1:1", 204},
		"by no proxy":         {"192.0.2.1:1", 429},
	} {
		records := openClaimer(t, t.TempDir())
		cfg := defaults()
		cfg.Auth, cfg.TrustedProxies = authKeys, []string{"10.0.0.0/8"}
		api := httpapi.New(httpapi.Options{
			Logger: quiet, Registry: prometheus.NewRegistry(), Guard: httpapi.NewGuard(nil),
			Identifier: newDoor(cfg, records, records, quiet), Proxies: cfg.trustedProxies(),
		})
		api.Handle("GET", "/x", "", func(c echo.Context) error { return c.NoContent(http.StatusNoContent) })
		show := func(key identity.Token, forwarded string) int {
			r := httptest.NewRequest("GET", "/x", nil)
			r.Host, r.RemoteAddr = "localhost", tc.peer
			r.Header.Set("Authorization", "Bearer "+key.Reveal())
			r.Header.Set("X-Forwarded-For", forwarded)
			w := httptest.NewRecorder()
			api.ServeHTTP(w, r)
			return w.Code
		}
		token := identity.NewToken()
		key := identity.Key{ID: token.ID(), Hash: token.Hash(), Owner: "alice"}
		if err := records.CreateKey(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		refused := 0 // soon, but for the one that each second lets in
		for n := 0; refused != 429 && n < 10*identity.Burst; n++ {
			refused = show(identity.NewToken(), "203.0.113.1")
		}
		if refused != 429 {
			t.Errorf("%s: the one who tries: %d", name, refused)
		}
		if got := show(token, "203.0.113.2"); got != tc.want {
			t.Errorf("%s: another client: %d, want %d", name, got, tc.want)
		}
	}
}
