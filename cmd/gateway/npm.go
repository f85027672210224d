package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"

	"github.com/prometheus/client_golang/prometheus"

	"sandgate/internal/egress"
	"sandgate/internal/npmmirror"
)

// noRegistry is the value of --npm-registry that means none.
const noRegistry = "none"

// An npmAnswer is what the host's npm said, if it was asked.
type npmAnswer struct {
	npm egress.NPM
	err error
}

var errNotAsked = errors.New("npm was not asked")

// askNPM begins to ask the host's npm, which takes a while, unless there is no
// need to; the function that it returns waits for the answer.
func askNPM(ctx context.Context, cfg Config) func() npmAnswer {
	if cfg.NPMRegistry != "" || !hasEgress(cfg) {
		return func() npmAnswer { return npmAnswer{err: errNotAsked} }
	}
	answer := make(chan npmAnswer, 1)
	go func() { // ends within the time that AskNPM gives itself
		npm, err := egress.AskNPM(ctx)
		answer <- npmAnswer{npm, err}
	}()
	return func() npmAnswer { return <-answer }
}

// packages say where sandboxes get npm's from.
type packages struct {
	registry *url.URL // nil: from nowhere
	url      string   // of the registry
	target   egress.Target
	rules    []egress.Rule
	caFile   string
	known    bool  // npm asks this registry without being told
	missing  error // why there is no registry, if that was not asked for
}

// registryOf chooses the registry: the setting, else what the host's npm uses.
func registryOf(cfg Config, answer npmAnswer) (packages, error) {
	switch {
	case cfg.NPMRegistry == noRegistry, cfg.NPMRegistry == "" && errors.Is(answer.err, errNotAsked):
		return packages{}, nil
	case cfg.NPMRegistry == "" && answer.err != nil:
		return packages{missing: answer.err}, nil
	}
	chosen := packages{registry: answer.npm.Registry, caFile: answer.npm.CAFile, known: answer.npm.Default}
	if cfg.NPMRegistry != "" {
		var err error
		if chosen.registry, err = egress.ParseRegistry(cfg.NPMRegistry); err != nil {
			return packages{}, err
		}
	}
	var err error
	if chosen.target, err = egress.RegistryTarget(chosen.registry); err != nil {
		return packages{}, err
	}
	rule, err := egress.ParseRule(chosen.target.String())
	chosen.url, chosen.rules = chosen.registry.String(), []egress.Rule{rule}
	return chosen, err
}

// openMirror has sandboxes get packages through a cache of the gateway's, if
// there is to be one. The function it returns gives it back.
func openMirror(cfg Config, o outside, log *slog.Logger, registry prometheus.Registerer) (func() error, error) {
	if cfg.NPMCache == 0 || o.packages.registry == nil {
		return func() error { return nil }, nil
	}
	mirror, err := npmmirror.New(npmmirror.Options{
		Registry:  o.packages.registry,
		Transport: o.gate.Transport(o.packages.target),
		Dir:       filepath.Join(cfg.StateDir, "npm"),
		MaxBytes:  int64(cfg.NPMCache),
		Rewrite:   !o.packages.known,
		Logger:    log,
		Metrics:   registry,
	})
	if err != nil {
		return nil, fmt.Errorf("cache of npm packages: %w", err)
	}
	o.gate.Mirror(mirror)
	return mirror.Close, nil
}
