package main

import (
	"context"
	"errors"

	"sandgate/internal/egress"
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
	url     string
	rules   []egress.Rule
	caFile  string
	missing error // why there is no registry, if that was not asked for
}

// registryOf chooses the registry: the setting, else what the host's npm uses.
func registryOf(cfg Config, answer npmAnswer) (packages, error) {
	switch {
	case cfg.NPMRegistry == noRegistry, cfg.NPMRegistry == "" && errors.Is(answer.err, errNotAsked):
		return packages{}, nil
	case cfg.NPMRegistry == "" && answer.err != nil:
		return packages{missing: answer.err}, nil
	}
	chosen := packages{caFile: answer.npm.CAFile}
	registry := answer.npm.Registry
	if cfg.NPMRegistry != "" {
		var err error
		if registry, err = egress.ParseRegistry(cfg.NPMRegistry); err != nil {
			return packages{}, err
		}
	}
	target, err := egress.RegistryTarget(registry)
	if err != nil {
		return packages{}, err
	}
	rule, err := egress.ParseRule(target.String())
	chosen.url, chosen.rules = registry.String(), []egress.Rule{rule}
	return chosen, err
}
