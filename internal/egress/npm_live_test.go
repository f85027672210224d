package egress_test

import (
	"os/exec"
	"testing"

	"sandgate/internal/egress"
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

// The real npm, in a real sandbox, against the registry of this host's npm.
func TestSandbox_npm(t *testing.T) {
	policy, settings := hostNPM(t)
	b := newBox(t, policy, settings)
	b.must("npm view is-number@7.0.0 version", "7.0.0")
	b.must(`mkdir p && cd p && npm init -y >/dev/null && npm install --no-audit is-number@7.0.0 && rm -rf node_modules && npm ci &&
		cat node_modules/is-number/package.json`, `"version": "7.0.0"`)
	b.mustNot("npm --registry=https://other.example/ --fetch-retries=0 view is-number version", "403")
	b.mustNot("echo x >> $SSL_CERT_FILE", "denied")
}
