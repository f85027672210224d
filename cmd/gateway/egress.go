package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/net/http/httpproxy"

	"sandgate/handlers/coderunner"
	"sandgate/handlers/files"
	"sandgate/handlers/notebook"
	"sandgate/handlers/sandboxapi"
	"sandgate/internal/egress"
	"sandgate/sandboxclient"
	"sandgate/sandboxclient/wire"
)

// testRunner is the app of test runs, which have a way out unless told otherwise.
const testRunner = "testrunner"

// sandboxApps are the apps that have sandboxes.
var sandboxApps = []string{coderunner.App, notebook.App, files.App, testRunner}

// defaultHosts are the common public git hosts, with those that they redirect to.
var defaultHosts = []string{
	"github.com", "codeload.github.com", "*.githubusercontent.com", "github-cloud.s3.amazonaws.com",
	"gitlab.com", "bitbucket.org", "codeberg.org", "git.sr.ht",
}

// An outside is where this gateway lets sandboxes connect to.
type outside struct {
	gate     *egress.Gate
	policy   *egress.Policy
	packages packages
	document sandboxapi.Egress
	warnings []string
}

// newOutside makes the way out of sandboxes; npm is what the host's says.
func newOutside(cfg Config, npm npmAnswer, log *slog.Logger, registry prometheus.Registerer) (outside, error) {
	policy, err := egressPolicy(cfg)
	if err != nil {
		return outside{}, err
	}
	packages, err := registryOf(cfg, npm)
	if err != nil {
		return outside{}, err
	}
	policy.Allow = append(policy.Allow, packages.rules...)
	bundle, err := egressBundle(cfg)
	if err != nil {
		return outside{}, err
	}
	var warnings []string
	if packages.caFile != "" {
		if err := bundle.Add(packages.caFile); err != nil { // npm's matter: nothing else needs it
			warnings = append(warnings, "sandboxes do not trust the authorities that npm's cafile names: "+err.Error())
		}
	}
	proxy, err := upstream(cfg)
	if err != nil {
		return outside{}, err
	}
	gate := egress.New(egress.Options{
		Policy:   policy,
		Settings: wire.Egress{Bundle: bundle.PEM(), Extra: bundle.Extra(), Registry: packages.url},
		MaxBytes: int64(cfg.EgressMaxBytes),
		Proxy:    proxy,
		Roots:    bundle.Roots(),
		Logger:   log,
		Registry: registry,
	})
	if packages.missing != nil {
		warnings = append(warnings, "npm in sandboxes has no registry: "+packages.missing.Error())
	}
	document := describeEgress(cfg, policy, packages)
	return outside{gate: gate, policy: policy, packages: packages, document: document, warnings: warnings}, nil
}

// egressPolicy reads the settings; its error is all that is wrong with them.
func egressPolicy(c Config) (*egress.Policy, error) {
	var wrong problems
	p := &egress.Policy{Apps: map[string]egress.Mode{testRunner: egress.AllowList}}
	for _, entry := range c.Egress {
		app, mode, _ := strings.Cut(entry, "=")
		if !slices.Contains(sandboxApps, app) || !slices.Contains(egress.Modes, egress.Mode(mode)) {
			wrong.addf("egress: %q is no APP=POLICY with an app of %s, and a policy of none, allow-list, open",
				entry, strings.Join(sandboxApps, ", "))
			continue
		}
		p.Apps[app] = egress.Mode(mode)
	}
	hosts := c.EgressAllow
	if c.EgressDefaultHosts {
		hosts = slices.Concat(defaultHosts, hosts)
	}
	for _, host := range hosts {
		rule, err := egress.ParseRule(host)
		if err != nil {
			wrong.addf("egress-allow: %v", err)
			continue
		}
		p.Allow = append(p.Allow, rule)
	}
	for _, host := range c.EgressAllowPrivate {
		target, err := egress.ParseTarget(host)
		if err != nil {
			wrong.addf("egress-allow-private: %q: %v", host, err)
			continue
		}
		p.Private = append(p.Private, target)
	}
	if len(wrong) > 0 {
		return nil, wrong
	}
	return p, nil
}

// checkEgress finds what is wrong with the settings of the way out.
func checkEgress(wrong *problems, c Config) {
	_, err := egressPolicy(c)
	if more, ok := errors.AsType[problems](err); ok {
		*wrong = append(*wrong, more...)
	}
	if c.EgressCA != "" {
		if err := new(egress.Bundle).Add(c.EgressCA); err != nil {
			wrong.addf("egress-ca: %v", err)
		}
	}
	if _, err := c.EgressProxy.parse(); err != nil {
		wrong.addf("egress-proxy: %v", err)
	}
	if c.NPMCache != 0 && c.NPMCache < 16<<20 {
		wrong.addf("npm-cache: must be at least 16MiB, or 0 for none")
	}
	if c.EgressMaxBytes < 1 {
		wrong.addf("egress-max-bytes: must be at least 1")
	}
	checkRegistry(wrong, c.NPMRegistry)
}

func checkRegistry(wrong *problems, text string) {
	if text == "" || text == noRegistry {
		return
	}
	u, err := egress.ParseRegistry(text)
	if err != nil {
		wrong.addf("npm-registry: %v", err)
		return
	}
	if u.User != nil {
		wrong.addf("npm-registry: it holds a user name or password, which sandboxes would get to see")
	}
}

// egressBundle is the host's authorities, with those that were added.
func egressBundle(cfg Config) (*egress.Bundle, error) {
	b := &egress.Bundle{}
	for _, file := range []string{egress.HostBundle(), cfg.EgressCA} {
		if file == "" {
			continue
		}
		if err := b.Add(file); err != nil {
			return nil, fmt.Errorf("authorities to trust: %w", err)
		}
	}
	return b, nil
}

// upstream is the gateway's own way out: --egress-proxy, else what the
// environment says.
func upstream(cfg Config) (func(*url.URL) (*url.URL, error), error) {
	settings := httpproxy.FromEnvironment()
	settings.CGI = false // REQUEST_METHOD says nothing here
	if named := string(cfg.EgressProxy); named != "" {
		settings.HTTPProxy, settings.HTTPSProxy = named, named
	}
	for _, text := range []string{settings.HTTPProxy, settings.HTTPSProxy} {
		if _, err := proxyURL(text).parse(); err != nil {
			return nil, fmt.Errorf("the proxy in the environment: %w", err)
		}
	}
	return settings.ProxyFunc(), nil
}

func describeEgress(cfg Config, p *egress.Policy, packages packages) sandboxapi.Egress {
	doc := sandboxapi.Egress{
		Apps:     map[string]string{},
		Allow:    []string{},
		Private:  []string{},
		Registry: packages.url,
		Notes:    []string{"fetch of Node heeds the proxy from Node 24 on, and not before"},
		Limits:   egress.Limits(int64(cfg.EgressMaxBytes)),
	}
	if packages.registry != nil && cfg.NPMCache > 0 {
		doc.Limits = append(doc.Limits, sandboxclient.Limit{
			Name: "npmCache", Value: float64(cfg.NPMCache), Unit: "bytes, shared by all sandboxes", Enforced: true, By: "the gateway",
		})
	}
	for _, app := range sandboxApps {
		doc.Apps[app] = string(p.Mode(app))
	}
	for _, rule := range p.Allow {
		doc.Allow = append(doc.Allow, rule.String())
	}
	for _, target := range p.Private {
		doc.Private = append(doc.Private, target.String())
	}
	if packages.missing != nil {
		doc.Notes = append(doc.Notes, "npm has no registry: "+packages.missing.Error())
	}
	return doc
}

// lookAtEgress tells doctor where sandboxes may connect to.
func lookAtEgress(ctx context.Context, cfg Config) (string, error) {
	o, err := newOutside(cfg, askNPM(ctx, cfg)(), slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	if err != nil {
		return "", err
	}
	var words []string
	for _, app := range slices.Sorted(maps.Keys(o.document.Apps)) {
		if mode := o.document.Apps[app]; mode != string(egress.None) {
			words = append(words, app+": "+mode)
		}
	}
	if len(words) == 0 {
		return "no app reaches anything outside its sandbox", nil
	}
	if o.document.Registry != "" {
		words = append(words, "npm registry "+o.document.Registry)
	}
	return strings.Join(append(words, o.warnings...), ", "), nil
}

// hasEgress says whether any app has a way out.
func hasEgress(cfg Config) bool {
	p, err := egressPolicy(cfg)
	return err == nil && slices.ContainsFunc(sandboxApps, func(app string) bool { return p.Mode(app) != egress.None })
}

// add tells of it in the log and in the document of what this gateway can do.
func (o outside) add(doc sandboxapi.Document, log *slog.Logger) sandboxapi.Document {
	for _, warning := range o.warnings {
		log.Warn(warning)
	}
	doc.Egress = o.document
	doc.Warnings = append(slices.Clip(doc.Warnings), o.warnings...)
	return doc
}
