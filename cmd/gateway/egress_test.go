package main

import (
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"sandgate/internal/egress"
)

func TestEgress_defaults(t *testing.T) {
	p, err := egressPolicy(defaults())
	if err != nil {
		t.Fatal(err)
	}
	for _, app := range sandboxApps {
		want := egress.None
		if app == testRunner {
			want = egress.AllowList
		}
		if got := p.Mode(app); got != want {
			t.Errorf("%s: %s, want %s", app, got, want)
		}
	}
	for host, allowed := range map[string]bool{
		"github.com": true, "objects.githubusercontent.com": true, "gitlab.com": true, "example.org": false, "githubusercontent.com": false,
	} {
		if err := p.Permits(testRunner, host, 443); (err == nil) != allowed {
			t.Errorf("%s: %v", host, err)
		}
	}
}

func TestEgress_settings(t *testing.T) {
	cfg, _, err := load(t, "egress-allow: [one.example, '*.two.example:8443']\n", nil,
		"--egress", "notebook=open,files=none", "--egress=testrunner=none", "--egress-default-hosts=false", "--egress-allow-private=10.0.0.5:4873")
	if err != nil {
		t.Fatal(err)
	}
	p, err := egressPolicy(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if p.Mode("notebook") != egress.Open || p.Mode("files") != egress.None || p.Mode(testRunner) != egress.None {
		t.Errorf("modes: %v", p.Apps)
	}
	if len(p.Allow) != 2 || !p.PrivateAllowed("10.0.0.5", 4873) {
		t.Errorf("allowed: %v, private: %v", p.Allow, p.Private)
	}
}

func TestEgress_allProblems(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err := load(t, "", nil,
		"--egress=ghost=open", "--egress=notebook", "--egress=files=maybe", "--egress-allow=https://one.example", "--egress-allow=*",
		"--egress-allow-private=10.0.0.5", "--egress-ca="+empty, "--egress-proxy=socks5://me:secret@proxy.example", "--egress-max-bytes=0",
		"--npm-registry=https://me:secret@npm.example/")
	if err == nil {
		t.Fatal("no problem was found")
	}
	for _, want := range []string{
		`egress: "ghost=open"`, `egress: "notebook"`, `egress: "files=maybe"`, `egress-allow: "https://one.example`, `egress-allow: "*`,
		`egress-allow-private: "10.0.0.5"`, "egress-ca: ", "holds no certificate", "egress-proxy: this is no URL", "egress-max-bytes: must be",
		"npm-registry: it holds a user name or password",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("not told: %s\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), "secret") {
		t.Error("a password is told:", err)
	}
}

func TestProxyURL_isShownWithoutItsPassword(t *testing.T) {
	_, rows, err := load(t, "", []string{"SANDGATE_EGRESS_PROXY=http://me:secret@proxy.example:3128"})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if strings.Contains(r.value, "secret") || r.name == "egress-proxy" && !strings.Contains(r.value, "proxy.example:3128") {
			t.Errorf("%s: %s", r.name, r.value)
		}
	}
}

func TestUpstream(t *testing.T) {
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy"} {
		t.Setenv(name, "")
	}
	t.Setenv("HTTPS_PROXY", "http://house.example:3128")
	t.Setenv("NO_PROXY", "git.example")
	for _, c := range []struct{ named, target, want string }{
		{"", "https://other.example:443", "http://house.example:3128"},
		{"", "https://git.example:443", ""},
		{"https://named.example", "https://other.example:443", "https://named.example"},
		{"https://named.example", "http://other.example:80", "https://named.example"},
		{"https://named.example", "https://git.example:443", ""},
	} {
		proxy, err := upstream(Config{EgressProxy: proxyURL(c.named)})
		if err != nil {
			t.Fatal(err)
		}
		target, _ := url.Parse(c.target)
		got, err := proxy(target)
		if err != nil || got == nil && c.want != "" || got != nil && got.String() != c.want {
			t.Errorf("%q for %s: %v, %v", c.named, c.target, got, err)
		}
	}
	t.Setenv("HTTPS_PROXY", "socks5://me:secret@house.example")
	if _, err := upstream(Config{}); err == nil || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}

// What only npm is wrong about keeps nothing from starting, and is told.
func TestNewOutside_warnsOfNPM(t *testing.T) {
	registry, err := egress.ParseRegistry("https://npm.example/")
	if err != nil {
		t.Fatal(err)
	}
	for want, answer := range map[string]npmAnswer{
		"cafile":      {npm: egress.NPM{Registry: registry, CAFile: "/nonexistent"}},
		"no registry": {err: egress.ErrNoNPM},
	} {
		o, err := newOutside(defaults(), answer, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
		if err != nil || len(o.warnings) != 1 || !strings.Contains(o.warnings[0], want) {
			t.Errorf("%s: %q, %v", want, o.warnings, err)
		}
	}
}

func TestRegistryOf(t *testing.T) {
	registry, err := egress.ParseRegistry("https://npm.example:8443/a/")
	if err != nil {
		t.Fatal(err)
	}
	asked := npmAnswer{npm: egress.NPM{Registry: registry, CAFile: "/ca.pem"}}
	for _, c := range []struct {
		setting string
		answer  npmAnswer
		url     string
		missing bool
	}{
		{"", asked, "https://npm.example:8443/a/", false},
		{"", npmAnswer{err: egress.ErrNoNPM}, "", true},
		{"", npmAnswer{err: errNotAsked}, "", false},
		{"none", asked, "", false},
		{"http://10.0.0.5:4873/", npmAnswer{err: errNotAsked}, "http://10.0.0.5:4873/", false},
	} {
		got, err := registryOf(Config{NPMRegistry: c.setting}, c.answer)
		if err != nil || got.url != c.url || (got.missing != nil) != c.missing || (len(got.rules) == 1) != (c.url != "") {
			t.Errorf("%q: %+v, %v", c.setting, got, err)
		}
	}
}
