package main

import (
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"sandgate/internal/store"
)

// Whoever is asked for keys may come from anywhere; whoever sees the operator's
// address may not, for that asks nobody.
func TestCheck_identity(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*Config)
		wrong  string // part of the one problem; "": none
	}{
		"open":           {func(c *Config) { c.Listen = "0.0.0.0:80" }, "listen: 0.0.0.0:80 can be reached"},
		"open with keys": {func(c *Config) { c.Listen, c.Auth = "0.0.0.0:80", authKeys }, ""},
		"admin":          {func(c *Config) { c.AdminListen, c.Auth = ":81", authKeys }, "admin-listen: :81 can be reached"},
		"mode":           {func(c *Config) { c.Auth = "password" }, `auth: "password" is none of: none, keys`},
		"quota":          {func(c *Config) { c.Quotas = []string{"a.b=1"} }, "quota: "},
		"audit log":      {func(c *Config) { c.AuditLog = "audit.log" }, "audit-log: "},
	} {
		c := defaults()
		tc.change(&c)
		switch wrong := check(c); {
		case tc.wrong == "" && len(wrong) == 0:
		case len(wrong) != 1 || tc.wrong == "" || !strings.HasPrefix(wrong[0], tc.wrong):
			t.Errorf("%s: %v", name, wrong)
		}
	}
}

// However a path is written, whoever is not known does not get in.
func TestMatrix_probing(t *testing.T) {
	records, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "db"))
	if err != nil {
		t.Fatal(err)
	}
	defer records.Close()
	api, owner := everyRoute(t, records)
	for _, target := range []string{
		"//run", "/run/", "/./run", "/app/../run", "/app/..%2frun", "/app%2f..%2frun", "/RUN", "/%72un", "/run%00", "/run;/app/",
		"/s/../run", "/s/x/../../run", "/app/?x=/run", "/v1/session/../sandboxes", "/v1//sandboxes", "/files?path=/app/", "/files#/app/",
	} {
		for _, method := range []string{"GET", "POST", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS", "TRACE", "CONNECT", "get"} {
			r := httptest.NewRequest("GET", "/", nil)
			r.Method, r.Host, r.RequestURI = method, "localhost", target
			path, query, _ := strings.Cut(target, "?")
			r.URL.Path, r.URL.RawQuery = path, query
			if u, err := r.URL.Parse(target); err == nil && u.Host == "" {
				r.URL.Path, r.URL.RawPath = u.Path, u.RawPath
			}
			*owner = ""
			w := httptest.NewRecorder()
			api.ServeHTTP(w, r)
			if *owner != "" {
				t.Errorf("%s %s: worked for %q", method, target, *owner)
			}
			if w.Code/100 == 2 && !strings.HasPrefix(r.URL.Path, "/app/") && !strings.HasPrefix(r.URL.Path, "/s/") {
				t.Errorf("%s %s: %d", method, target, w.Code)
			}
		}
	}
}

// What is shown as a key in odd ways is none, and none of it comes back.
func TestMatrix_headers(t *testing.T) {
	records, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "db"))
	if err != nil {
		t.Fatal(err)
	}
	defer records.Close()
	api, _ := everyRoute(t, records)
	for _, value := range []string{"Bearer x\r\nX-Evil: 1", "Bearer \x00", "Bearer " + strings.Repeat("a", 100_000), "\xff", "Bearer sg_<script>"} {
		for _, name := range []string{"Authorization", "Cookie", "X-Request-Id"} {
			r := httptest.NewRequest("GET", "/files", nil)
			r.Host = "localhost"
			r.Header[name] = []string{value}
			w := httptest.NewRecorder()
			api.ServeHTTP(w, r)
			if w.Code != 401 || w.Header().Get("X-Evil") != "" || strings.Contains(w.Body.String(), "script") {
				t.Errorf("%s: %.20q: %d %v %s", name, value, w.Code, w.Header(), w.Body)
			}
			for header, values := range w.Header() {
				if strings.ContainsAny(strings.Join(values, ""), "\r\n") {
					t.Errorf("%s: %q", header, values)
				}
			}
		}
	}
}
