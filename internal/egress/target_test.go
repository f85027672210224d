package egress

import (
	"net/netip"
	"strings"
	"testing"
)

func TestParseTarget(t *testing.T) {
	long := strings.Repeat("a", 63)
	for text, want := range map[string]string{
		"example.org:443":             "example.org:443",
		"Example.ORG:80":              "example.org:80",
		"example.org.:443":            "example.org:443",
		"xn--bcher-kva.example:443":   "xn--bcher-kva.example:443",
		"a_b.example.org:65535":       "a_b.example.org:65535",
		"localhost:1":                 "localhost:1",
		"1.2.3.example:443":           "1.2.3.example:443",
		long + ".example:443":         long + ".example:443",
		"93.184.216.34:443":           "93.184.216.34:443",
		"[2606:2800:220:1::1]:443":    "[2606:2800:220:1::1]:443",
		"[2606:2800:220:0001::1]:443": "[2606:2800:220:1::1]:443",
		"[::ffff:10.0.0.1]:80":        "10.0.0.1:80",
		"[::FFFF:a00:1]:80":           "10.0.0.1:80",

		"": "", ":443": "", "example.org": "", "example.org:": "", "example.org:0": "", "example.org:65536": "",
		"example.org:http": "", "example.org:+80": "", "example.org:080": "", "example.org:80 ": "", "example.org:80:80": "",
		"example .org:443": "", "exa\x00mple.org:443": "", "exa\rmple:1": "", "http://example.org:443": "", "user@example.org:443": "",
		"bücher.example:443": "", "example。org:443": "", "ⅼocalhost:80": "", "-a.example:443": "", "a-.example:443": "",
		"a..example:443": "", ".example:443": "", "..:443": "", ".:443": "", "*.example.org:443": "",
		long + "a.example:443": "", strings.Repeat("a.", 127) + "example:443": "",
		"2130706433:80": "", "127.1:80": "", "0x7f.1:80": "", "0x7f000001:80": "", "017700000001:80": "", "127.0.0.01:80": "",
		"0177.0.0.1:80": "", "127.0.0.1.:80": "", "1.2.3.4.5:80": "", "0x:80": "", "256.1.1.1:80": "", "example.0x7f:80": "",
		"::1:80": "", "[::1:80": "", "::1]:80": "", "[example.org]:443": "", "[127.0.0.1]:80": "",
		"[fe80::1%eth0]:80": "", "[::1%25lo]:80": "", "127.0.0.1%lo:80": "",
	} {
		got, err := ParseTarget(text)
		if (err != nil) != (want == "") || err == nil && got.String() != want {
			t.Errorf("ParseTarget(%q) = %q, %v; want %q", text, got, err, want)
		}
	}
}

// What is taken has one meaning: a plain address or a plain name, and read
// again it is the same.
func FuzzParseTarget(f *testing.F) {
	for _, seed := range []string{"example.org:443", "[::1]:80", "0x7f.1:80", "[fe80::1%lo]:1", "127.0.0.1.:80", "a_b:1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		target, err := ParseTarget(text)
		if err != nil {
			return
		}
		again, err := ParseTarget(target.String())
		if err != nil || again != target {
			t.Errorf("%q: %+v was read again as %+v, %v", text, target, again, err)
		}
		addr, err := netip.ParseAddr(target.Host)
		if (err == nil) != target.Addr.IsValid() || err == nil && (addr.Zone() != "" || addr.Is4In6()) {
			t.Errorf("%q: %+v", text, target)
		}
		if strings.Trim(target.Host, "abcdefghijklmnopqrstuvwxyz0123456789-_.:") != "" {
			t.Errorf("%q: host %q", text, target.Host)
		}
	})
}

func TestParseRule(t *testing.T) {
	for text, want := range map[string]string{
		"example.org":        "example.org:443",
		"Example.org:8443":   "example.org:8443",
		"*.example.org":      "*.example.org:443",
		"*.example.org:80":   "*.example.org:80",
		"10.0.0.5:80":        "10.0.0.5:80",
		"2001:db8::1":        "[2001:db8::1]:443",
		"[2001:db8::1]":      "[2001:db8::1]:443",
		"[2001:db8::1]:8080": "[2001:db8::1]:8080",

		"": "", "*": "", "*:443": "", "*.": "", "*.*.example.org": "", "a.*.org": "", "*example.org": "", "example.org:": "",
		"https://example.org": "", "example.org/path": "", "*.10.0.0.5": "", "example.org:*": "",
	} {
		got, err := ParseRule(text)
		if (err != nil) != (want == "") || err == nil && got.String() != want {
			t.Errorf("ParseRule(%q) = %q, %v; want %q", text, got, err, want)
		}
	}
}
