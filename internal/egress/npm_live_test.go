package egress_test

import (
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"os/exec"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"sandgate/internal/egress"
	"sandgate/internal/npmmirror"
	"sandgate/internal/sandboxtest"
	"sandgate/sandboxclient/wire"
)

// hostNPM gives a policy and settings as the gateway makes them from this
// host's npm.
func hostNPM(t *testing.T) (*egress.Policy, wire.Egress) {
	t.Helper()
	if _, err := exec.LookPath("npm"); err != nil {
		sandboxtest.Missing(t, "there is no npm")
	}
	npm, err := egress.AskNPM(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	target, err := egress.RegistryTarget(npm.Registry)
	if err != nil {
		t.Fatal(err)
	}
	rule, err := egress.ParseRule(target.String())
	if err != nil {
		t.Fatal(err)
	}
	policy := private(t)
	policy.Allow = []egress.Rule{rule}
	bundle := &egress.Bundle{}
	for _, file := range []string{egress.HostBundle(), npm.CAFile} {
		if file == "" {
			continue
		}
		if err := bundle.Add(file); err != nil {
			t.Fatal(err)
		}
	}
	return policy, wire.Egress{Bundle: bundle.PEM(), Extra: bundle.Extra(), Registry: npm.Registry.String()}
}

// checkNPM has the real npm install from the registry of this host's npm.
func checkNPM(b box) {
	b.must("npm view is-number@7.0.0 version", "7.0.0")
	b.must(`mkdir p && cd p && npm init -y >/dev/null && npm install is-number@7.0.0 && rm -rf node_modules ~/.cache && npm ci &&
		cat node_modules/is-number/package.json`, `"version": "7.0.0"`)
	b.mustNot("npm view this-is-no-package-of-anybodys", "E404")
	b.mustNot("npm --registry=https://other.example/ --fetch-retries=0 view is-number version", "403")
}

func TestSandbox_npm(t *testing.T) {
	policy, settings := hostNPM(t)
	b := newBox(t, policy, settings)
	checkNPM(b)
	b.mustNot("echo x >> $SSL_CERT_FILE", "denied")
}

// Through the mirror, what one sandbox has fetched another one gets without the
// registry.
func TestSandbox_npmThroughTheMirror(t *testing.T) {
	policy, settings := hostNPM(t)
	registry, err := url.Parse(settings.Registry)
	if err != nil {
		t.Fatal(err)
	}
	var online atomic.Bool
	online.Store(true)
	gate := newGate(t, policy, settings)
	target, err := egress.RegistryTarget(registry)
	if err != nil {
		t.Fatal(err)
	}
	mirror, err := npmmirror.New(npmmirror.Options{
		Registry: registry, Dir: t.TempDir(), MaxBytes: 256 << 20, Rewrite: true,
		Transport: line{gate.Transport(target), &online},
		Logger:    slog.New(slog.NewTextHandler(t.Output(), nil)), Metrics: prometheus.NewRegistry(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = mirror.Close() })
	gate.Mirror(mirror)
	checkNPM(boxOf(t, gate, "first"))
	online.Store(false)
	second := boxOf(t, gate, "second")
	second.must("npm view is-number@7.0.0 version", "7.0.0")
	second.must("mkdir p && cd p && npm init -y >/dev/null && npm install is-number@7.0.0 && ls node_modules", "is-number")
	second.mustNot("npm --fetch-retries=0 view is-odd version", "could not be asked")
	second.mustNot("npm --fetch-retries=0 publish ./p", "")
}

// A line to the registry can be cut.
type line struct {
	*http.Transport
	up *atomic.Bool
}

func (l line) RoundTrip(r *http.Request) (*http.Response, error) {
	if !l.up.Load() {
		return nil, errors.New("the line is cut")
	}
	return l.Transport.RoundTrip(r)
}
