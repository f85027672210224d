package httpapi

import (
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"

	"sandgate/sandboxclient"
)

// Where net/url can read a query, both see the same names; a refusal names one
// that is not known.
func FuzzOnlyQuery(f *testing.F) {
	for _, seed := range []string{"", "a=1", "A=1", "a=1&b&c", "%61", "a;b", "=", "&&", "a%00", "%ff=1", "c=" + strings.Repeat("x", 999)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		err := checkQuery(query)
		if err != nil && (sandboxclient.CodeOf(err) != sandboxclient.CodeInvalid || len(err.Error()) > 500) {
			t.Errorf("%q: %v", query, err)
		}
		values, malformed := url.ParseQuery(query)
		if malformed != nil {
			return
		}
		unknown := false
		for name := range values {
			unknown = unknown || !slices.Contains([]string{"a", "b"}, name)
		}
		if unknown && err == nil {
			t.Errorf("%q passed", query)
		}
	})
}

// A switch is on or off, or the request is wrong; so is a number beyond its bounds.
func FuzzSwitchesAndNumbers(f *testing.F) {
	for _, seed := range []string{"", "true", "1", "T", "yes", "0", "-1", "07", "1e3", "9223372036854775808", " 1", "1\x00", "\u0661"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := asked("v=" + url.QueryEscape(text))
		if on, err := QueryBool(c, "v"); err != nil && (on || sandboxclient.CodeOf(err) != sandboxclient.CodeInvalid) {
			t.Errorf("%q: %v, %v", text, on, err)
		}
		const least, most = 1, 100
		number, err := QueryNumber(c, "v", least, most, 7)
		if err == nil && (number < least || number > most) || err != nil && (number != 0 || sandboxclient.CodeOf(err) != sandboxclient.CodeInvalid) {
			t.Errorf("%q: %d, %v", text, number, err)
		}
	})
}

// Whoever passes the guard names a host of ours, and changes nothing from
// another origin, however the headers are written.
func FuzzGuard(f *testing.F) {
	for _, host := range []string{
		"localhost", "localhost:8787", "127.0.0.1:1", "[::1]:80", "[::ffff:127.0.0.1]", "gateway.example.org", "GATEWAY.example.ORG.", "evil.example",
		"127.0.0.1.evil.example", "localhost.evil.example", "localhost\x00", "localhost:80:80", "[localhost]", "127.1", "0x7f.1", "::1", "[::1", "::1]", "[::1%25lo]", "[]", "",
	} {
		f.Add(host, "", "")
		f.Add("localhost", "http://"+host, "")
		f.Add("localhost", "", host)
	}
	f.Add("localhost", "null", "same-origin")
	f.Add("localhost:1", "http://localhost:2", "cross-site")
	guard := NewGuard([]string{"gateway.example.org"})
	f.Fuzz(func(t *testing.T, host, origin, site string) {
		r := httptest.NewRequest("POST", "/run", nil)
		r.Host = host
		setIf := func(name, value string) {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		setIf("Origin", origin)
		setIf("Sec-Fetch-Site", site)
		err := guard.Check(r)
		if err != nil {
			if sandboxclient.CodeOf(err) != sandboxclient.CodeForbidden {
				t.Errorf("%v", err)
			}
			return
		}
		if !ours(host) {
			t.Errorf("host %q passed", host)
		}
		if site != "" && site != "same-origin" && site != "none" {
			t.Errorf("a request from a %s passed", site)
		}
		if from, err := url.Parse(origin); site == "" && origin != "" && (err != nil || from.Host != host) {
			t.Errorf("a request from %q to %q passed", origin, host)
		}
	})
}

// ours says, in other ways than the guard's, whether a Host header is.
func ours(host string) bool {
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.ContainsAny(host[i:], "]") && (strings.HasPrefix(host, "[") || strings.Count(host, ":") == 1) {
		host = host[:i]
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	host = strings.TrimSuffix(host, ".")
	address, err := netip.ParseAddr(host)
	return host == "localhost" || host == "gateway.example.org" || err == nil && address.Unmap().IsLoopback()
}
