package sandboxclient

import (
	"strings"
	"testing"
)

func TestCheckout_allowedURLs(t *testing.T) {
	for _, c := range []struct{ given, url, dir string }{
		{"https://example.org/p", "https://example.org/p", "p"},
		{"HTTPS://EXAMPLE.org/P.git/", "https://example.org/P.git/", "P"},
		{"\r\n\t https://example.org/p.git\n", "https://example.org/p.git", "p"},
		{"https://example.org:443/p", "https://example.org:443/p", "p"},
		{"https://sub_domain.example.org./p", "https://sub_domain.example.org./p", "p"},
		{"https://[2001:DB8::1]:8443/a/p", "https://[2001:db8::1]:8443/a/p", "p"},
		{"https://example.org/ä/ö.git", "https://example.org/%C3%A4/%C3%B6.git", "ö"},
		{"https://example.org/a%20b", "https://example.org/a%20b", "a b"},
		{"https://example.org/a%2Fb", "https://example.org/a%2Fb", "b"},
		{"https://example.org/.git", "https://example.org/.git", "repository"},
		{"https://example.org/a/..", "https://example.org/a/..", "repository"},
		{"https://example.org/a/...git", "https://example.org/a/...git", "repository"},
		{"https://example.org/--upload-pack=x", "https://example.org/--upload-pack=x", "--upload-pack=x"},
		{"https://example.org/$(id)`id`;id", "https://example.org/$%28id%29%60id%60;id", "$(id)`id`;id"},
		{"https://example.org/@scope/p", "https://example.org/@scope/p", "p"},
		{"https://example.org/" + strings.Repeat("x", 300), "https://example.org/" + strings.Repeat("x", 300), "repository"},
		{"http://example.org/p", "http://example.org/p", "p"},
		{"ssh://git@example.org:22/a/p.git", "ssh://git@example.org:22/a/p.git", "p"},
		{"ssh://example.org/p", "ssh://example.org/p", "p"},
		{"git@example.org:a/p.git", "git@example.org:a/p.git", "p"},
		{"example.org:p.git", "example.org:p.git", "p"},
		{"git://example.org/p", "git://example.org/p", "p"},
	} {
		cmd, err := Checkout{Repository: c.given, AllowHTTP: true, Schemes: []string{"ssh", "git"}}.Command()
		if err != nil {
			t.Errorf("%q: %v", c.given, err)
			continue
		}
		if got := cmd.Argv[4]; got != c.url {
			t.Errorf("%q reaches git as %q, want %q", c.given, got, c.url)
		}
		if got := cmd.Argv[dirArgument]; got != "/workspace/"+c.dir {
			t.Errorf("%q goes to %q, want %q", c.given, got, c.dir)
		}
	}
}

func TestCheckout_refusedURLs(t *testing.T) {
	for given, want := range map[string]Code{
		"":     CodeInvalid,
		" \n ": CodeInvalid,
		"https://example.org/" + strings.Repeat("x", maxRepository): CodeInvalid,
		"https://example.org/a b":                                   CodeInvalid,
		"https://example.org/a\nb":                                  CodeInvalid,
		"https://example.org/a\x00b":                                CodeInvalid,
		"https://example.org/a\x7fb":                                CodeInvalid,
		"https://example.org/a%00b":                                 CodeInvalid,
		"https://example.org/a%0ab":                                 CodeInvalid,
		"https://example.org/\xff":                                  CodeInvalid,
		"https://example.org\\@evil.test/p":                         CodeInvalid,
		"https://example.org":                                       CodeInvalid,
		"https://example.org/":                                      CodeInvalid,
		"https://example.org//":                                     CodeInvalid,
		"https:///p":                                                CodeInvalid,
		"https:/p":                                                  CodeInvalid,
		"https:p":                                                   CodeInvalid,
		"https://":                                                  CodeInvalid,
		"//example.org/p":                                           CodeInvalid,
		"https://-example.org/p":                                    CodeInvalid,
		"https://example..org/p":                                    CodeInvalid,
		"https://exa%6dple.org/p":                                   CodeInvalid,
		"https://exämple.org/p":                                     CodeInvalid,
		"https://example.org:/p":                                    CodeInvalid,
		"https://example.org:0/p":                                   CodeInvalid,
		"https://example.org:65536/p":                               CodeInvalid,
		"https://example.org:x/p":                                   CodeInvalid,
		"https://[fe80::1%25eth0]/p":                                CodeInvalid,
		"https://[::1/p":                                            CodeInvalid,
		"https://example.org/p?a=b":                                 CodeInvalid,
		"https://example.org/p?":                                    CodeInvalid,
		"https://example.org/p#main":                                CodeInvalid,
		"https://a%0ab:c@example.org/p":                             CodeInvalid,
		"https://a:b%0a@example.org/p":                              CodeInvalid,
		"https://:b@example.org/p":                                  CodeInvalid,
		"https://a:%ff@example.org/p":                               CodeInvalid,
		"-":                                                         CodeInvalid,
		"--upload-pack=touch /tmp/x":                                CodeInvalid,
		"--upload-pack=x":                                           CodeInvalid,
		"ext::sh -c id":                                             CodeInvalid,
		"ext::id":                                                   CodeInvalid,
		"EXT::id":                                                   CodeInvalid,
		"eXt::sh":                                                   CodeInvalid,
		"fd::17":                                                    CodeInvalid,
		"https::https://example.org/p":                              CodeInvalid,
		"/etc":                                                      CodeInvalid,
		"./p":                                                       CodeInvalid,
		"../p":                                                      CodeInvalid,
		"p":                                                         CodeInvalid,
		"~/p":                                                       CodeInvalid,
		`C:\p`:                                                      CodeInvalid,
		"-oProxyCommand=id:p":                                       CodeInvalid,
		"git@-oProxyCommand=id:p":                                   CodeInvalid,
		"file:///etc":                                               CodeForbidden,
		"FILE://host/etc":                                           CodeForbidden,
		"ftp://example.org/p":                                       CodeForbidden,
		"javascript://example.org/p":                                CodeForbidden,
		"git+ssh://example.org/p":                                   CodeForbidden,
		"http://example.org/p":                                      CodeForbidden,
		"HTTP://example.org/p":                                      CodeForbidden,
		"ssh://git@example.org/p":                                   CodeForbidden,
		"git@example.org:p":                                         CodeForbidden,
		"git://example.org/p":                                       CodeForbidden,
	} {
		_, err := Checkout{Repository: given}.Command()
		if CodeOf(err) != want || err == nil {
			t.Errorf("%q: %v, want %s", given, err, want)
		}
	}
}

// What no configuration allows.
func TestCheckout_neverAllowedURLs(t *testing.T) {
	everything := []string{"ssh", "git", "file", "ext", "fd", "ftp", "local", ""}
	for _, given := range []string{
		"file:///etc", "ext::id", "EXT::id", "fd::3", "/etc", "ftp://example.org/p", "--upload-pack=x",
		"ssh://-oProxyCommand=id/p", "ssh://-l@example.org/p", "ssh://user:secret@example.org/p", "git://user@example.org/p",
		"git@example.org:-p", "git@example.org:/p", "ssh://git@example.org:99999/p",
	} {
		cmd, err := Checkout{Repository: given, AllowHTTP: true, Schemes: everything}.Command()
		if err == nil {
			t.Errorf("%q is %q", given, cmd.Argv[4:])
		}
	}
	cmd, err := Checkout{Repository: "https://example.org/p", Schemes: everything}.Command()
	if err != nil {
		t.Fatal(err)
	}
	if got := cmd.Env["GIT_ALLOW_PROTOCOL"]; got != "https:ssh:git" {
		t.Errorf("git may use %s", got)
	}
}

func TestCheckout_credentials(t *testing.T) {
	for given, want := range map[string][2]string{
		"https://ada:s3cret@example.org:8443/p":            {"ada", "s3cret"},
		"https://ghp_token@example.org:8443/p":             {"ghp_token", ""},
		"https://a%40b:p%2Fs%25%27%22$@Example.org:8443/p": {"a@b", `p/s%'"$`},
	} {
		c := Checkout{Repository: given}
		cmd, err := c.Command()
		if err != nil {
			t.Errorf("%q: %v", given, err)
			continue
		}
		if got := [2]string{cmd.Env[gitUserVariable], cmd.Env[gitPasswordVariable]}; got != want {
			t.Errorf("%q: git is given %q", given, got)
		}
		if setting(cmd, "credential.https://example.org:8443.helper") != credentialHelper {
			t.Errorf("%q: the helper is not that of the host alone", given)
		}
		if got := c.Public(); got != "https://example.org:8443/p" || cmd.Argv[4] != got {
			t.Errorf("%q: shown as %q, given as %q", given, got, cmd.Argv[4])
		}
	}
}

func TestCheckout_withoutCredentialsThereIsNoHelper(t *testing.T) {
	cmd, err := Checkout{Repository: "https://example.org/p"}.Command()
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range cmd.Env {
		if strings.HasPrefix(name, "SANDGATE") || strings.HasPrefix(value, "credential.https") {
			t.Errorf("%s is %q", name, value)
		}
	}
}

func TestCheckout_publicHidesWhatIsNoURL(t *testing.T) {
	for given, want := range map[string]string{
		"https://ada:s3cret@exa mple.org/p":      "exa mple.org/p",
		"https://ada:s3/cret@example.org/p":      "example.org/p",
		"https:ada:s3cret@example.org/p":         "example.org/p",
		"ada:s3cret@example.org/p":               "example.org/p",
		"ada.b:s3cret@example.org":               "example.org",
		"https://example.org/p?access_token=s3":  "https://example.org/p",
		"https://example.org/p#s3cret":           "https://example.org/p",
		"https://example.org/p?x=@s3cret":        "https://example.org/p",
		"  file:///etc\n":                        "file:///etc",
		"ssh://ada:s3cret@example.org/p":         "example.org/p",
		"a\x1b[31mb":                             "a [31mb",
		strings.Repeat("x", maxMessage+5):        strings.Repeat("x", maxMessage) + "…",
		"https://ada:s3cret@EXAMPLE.org/p.git\n": "https://example.org/p.git",
	} {
		if got := (Checkout{Repository: given}).Public(); got != want {
			t.Errorf("%q is shown as %q", given, got)
		}
	}
}

func TestCheckout_address(t *testing.T) {
	for given, want := range map[string]struct {
		host string
		port int
	}{
		"https://a:b@Example.org/p":     {"example.org", 443},
		"http://example.org/p":          {"example.org", 80},
		"http://127.0.0.1:8080/p":       {"127.0.0.1", 8080},
		"https://[::1]/p":               {"::1", 443},
		"https://[::1]:8443/p":          {"::1", 8443},
		"ssh://git@example.org/p":       {"example.org", 22},
		"git@example.org:a/p":           {"example.org", 22},
		"git://example.org/p":           {"example.org", 9418},
		"https://example.org:0443/p":    {"example.org", 443},
		"  https://example.org:1/p.git": {"example.org", 1},
	} {
		host, port, err := Checkout{Repository: given}.Address()
		if host != want.host || port != want.port || err != nil {
			t.Errorf("%q leads to %q and %d, %v", given, host, port, err)
		}
	}
	for _, given := range []string{"", "ext::id", "file:///etc", "https://example.org"} {
		if host, port, err := (Checkout{Repository: given}).Address(); err == nil {
			t.Errorf("%q leads to %q and %d", given, host, port)
		}
	}
}
