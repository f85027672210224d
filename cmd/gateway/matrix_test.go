package main

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"

	"sandgate/internal/httpapi"
	"sandgate/internal/identity"
	"sandgate/internal/quota"
	"sandgate/internal/store"
	"sandgate/sandboxclient"
)

// What a route is to those who may not do everything.
const (
	forAll    = "for all"    // nobody needs to be known
	forLooks  = "to look"    // changes nothing
	forChange = "for change" // changes something, or works
)

// matrix says of every route who may use it. A new one has to say so here.
var matrix = map[string]string{
	"GET /":      forAll,
	"GET /app":   forAll,
	"GET /app/*": forAll,

	"POST /run":                   forChange,
	"DELETE /run":                 forChange,
	"POST /notebook":              forChange,
	"GET /notebook":               forLooks,
	"POST /notebook/interrupt":    forChange,
	"DELETE /notebook":            forChange,
	"POST /tests":                 forChange,
	"GET /tests":                  forLooks,
	"GET /tests/:run":             forLooks,
	"GET /tests/:run/events":      forLooks,
	"GET /tests/:run/artifacts/*": forLooks,
	"DELETE /tests/:run":          forChange,
	"GET /executions/:id":         forLooks,
	"GET /executions/:id/events":  forLooks,
	"DELETE /executions/:id":      forChange,
	"PUT /files":                  forChange,
	"GET /files":                  forLooks,
	"POST /files":                 forChange,
	"DELETE /files":               forChange,
	"GET /search":                 forLooks,
	"GET /v1/capabilities":        forLooks,

	"GET /v1/sandboxes":            forLooks,
	"POST /v1/sandboxes/hibernate": forChange,
	"POST /v1/sandboxes/wake":      forChange,
	"DELETE /v1/sandboxes":         forChange,

	"POST /v1/backups":             forChange,
	"GET /v1/backups":              forLooks,
	"GET /v1/backups/:id":          forLooks,
	"DELETE /v1/backups/:id":       forChange,
	"POST /v1/backups/:id/restore": forChange,
	"GET /v1/archives":             forLooks,
	"PUT /v1/archives":             forChange,

	"POST /v1/shares": forChange,
	"GET /s/:token":   forAll,
	"GET /s/:token/*": forAll,

	"GET /v1/session":    forLooks,
	"POST /v1/session":   forAll,
	"DELETE /v1/session": forAll,
}

// A caller is somebody who asks every route.
type caller struct {
	name     string
	key      func(*identity.Key) // that it has; nil: none
	query    string
	statuses map[string]int // by what the route is; 204: its handler was reached
	owner    string         // on whose behalf the handler worked
}

var callers = []caller{
	{"nobody", nil, "", map[string]int{forAll: 204, forLooks: 401, forChange: 401}, ""},
	{"owner", func(k *identity.Key) {}, "", map[string]int{forAll: 204, forLooks: 204, forChange: 204}, "alice"},
	{"another owner", func(k *identity.Key) { k.Owner = "bob" }, "", map[string]int{forAll: 204, forLooks: 204, forChange: 204}, "bob"},
	{"another owner who names her", func(k *identity.Key) { k.Owner = "bob" }, "owner=alice", map[string]int{forLooks: 403, forChange: 403}, ""},
	{"revoked", func(k *identity.Key) { k.RevokedAt = time.Now() }, "", map[string]int{forAll: 204, forLooks: 401, forChange: 401}, ""},
	{"expired", func(k *identity.Key) { k.ExpiresAt = time.Now() }, "", map[string]int{forAll: 204, forLooks: 401, forChange: 401}, ""},
	{"read-only", func(k *identity.Key) { k.ReadOnly = true }, "", map[string]int{forAll: 204, forLooks: 204, forChange: 403}, "alice"},
	{"admin", func(k *identity.Key) { k.Owner, k.Admin = "ops", true }, "", map[string]int{forAll: 204, forLooks: 204, forChange: 204}, "ops"},
	{"admin who looks at hers", func(k *identity.Key) { k.Owner, k.Admin = "ops", true }, "owner=alice", map[string]int{forLooks: 204, forChange: 403}, "alice"},
	{"for another app", func(k *identity.Key) { k.Apps = []string{"nothing"} }, "", map[string]int{forAll: 204, forChange: 403}, ""},
}

// Every route × everybody who may ask. What the handlers answer is not looked at:
// that they reach the owner's things alone is for their own tests and e2e.
func TestMatrix(t *testing.T) {
	records, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "db"))
	if err != nil {
		t.Fatal(err)
	}
	defer records.Close()
	api, owner := everyRoute(t, records)
	seen := map[string]bool{}
	for _, who := range callers {
		authorization := who.authorization(t, records)
		for _, r := range api.Routes() {
			name := strings.Replace(r.Method, "HEAD", "GET", 1) + " " + r.Path
			seen[name] = true
			kind, ok := matrix[name]
			if !ok {
				t.Fatalf("%s is not in the matrix: say who may use it", name)
			}
			want, ok := who.statuses[kind]
			if !ok {
				continue
			}
			*owner = ""
			request := httptest.NewRequest(r.Method, placeIn(r.Path)+"?"+who.query, nil)
			request.Host = "localhost"
			request.Header["Authorization"] = authorization
			w := httptest.NewRecorder()
			api.ServeHTTP(w, request)
			if w.Code != want && (want != 204 || w.Code != 200) || want == 401 && w.Header().Get("WWW-Authenticate") == "" {
				t.Errorf("%s: %s: %d %s, want %d", who.name, name, w.Code, w.Body, want)
			}
			if w.Code == 204 && kind != forAll && *owner != who.owner {
				t.Errorf("%s: %s works for %q", who.name, name, *owner)
			}
		}
	}
	for name := range matrix {
		if !seen[name] {
			t.Errorf("there is no route %s any more", name)
		}
	}
}

// everyRoute gives an API of all routes, whose handlers note for whom they work.
func everyRoute(t *testing.T, records *store.Store) (*httpapi.API, *string) {
	t.Helper()
	var owner string
	stub := func(c echo.Context) error {
		if id := httpapi.Identity(c); id.Owner != "" {
			owner = httpapi.Owner(c)
		}
		return c.NoContent(http.StatusNoContent)
	}
	door := newDoor(Config{Auth: authKeys}, records, records, quiet)
	api := httpapi.New(httpapi.Options{
		Logger: quiet, Registry: prometheus.NewRegistry(), Guard: httpapi.NewGuard(nil), Identifier: door,
	})
	for _, path := range []string{"/app", "/app/*"} {
		api.Public("GET", path, "pages", stub)
	}
	s := opened{client: sandboxclient.New(sandboxclient.Options{}), key: []byte("key"), records: records}
	limits := newLimiters(defaults(), prometheus.NewRegistry())
	all := allRoutes(defaults(), s, door, limits)
	for i := range all {
		all[i].handler = stub
	}
	book := quota.NewBook(nil, nil, prometheus.NewRegistry())
	mount(api, withinQuotas(t.Context(), all, book, records, s.client), limits)
	return api, &owner
}

// authorization makes the caller's key.
func (who caller) authorization(t *testing.T, records *store.Store) []string {
	t.Helper()
	if who.key == nil {
		return nil
	}
	token := identity.NewToken()
	key := identity.Key{ID: token.ID(), Hash: token.Hash(), Owner: "alice", CreatedAt: time.Now()}
	who.key(&key)
	if err := records.CreateKey(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	return []string{"Bearer " + token.Reveal()}
}

// placeIn makes a path of a pattern.
func placeIn(pattern string) string {
	return strings.NewReplacer(":run", "x", ":id", "x", ":token", "x", "*", "x").Replace(pattern)
}
