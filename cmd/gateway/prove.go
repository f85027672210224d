package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"sandgate/handlers/sandboxapi"
	"sandgate/sandboxclient"
	"sandgate/sandboxclient/selftest"
)

// proofTime bounds the self-test: a machine that needs longer serves nobody.
const proofTime = 2 * time.Minute

// prove shows by a throw-away sandbox that sandboxes isolate, and finds out what
// this gateway is able to do. It has a client of its own, since the sandboxes
// that an earlier gateway left may fill the other.
func prove(ctx context.Context, cfg Config, driver sandboxclient.Driver, records sandboxclient.Records, key []byte, log *slog.Logger) (proof, error) {
	ctx, cancel := context.WithTimeout(ctx, proofTime)
	defer cancel()
	client := sandboxclient.New(sandboxclient.Options{
		Driver: driver, Records: records, Key: key, Logger: log,
		MaxTimeout: cfg.MaxTimeout, Output: cfg.output(), Limits: cfg.limits(),
		MaxRunning: cfg.MaxRunning, MaxExisting: cfg.MaxSandboxes, ContextEnv: cfg.contextEnv(),
	})
	capabilities, err := client.Capabilities(ctx)
	if err != nil {
		return proof{}, err
	}
	began := time.Now()
	sandbox := client.Sandbox(sandboxclient.Ref{Owner: "gateway", App: "selftest", Name: "isolation"})
	report, err := selftest.Run(ctx, sandbox, capabilities)
	if ctx.Err() != nil {
		return proof{}, errors.Join(err, context.Cause(ctx))
	}
	p := proof{newDocument(capabilities, report), errors.Join(err, report.Err())}
	p.tell(log, time.Since(began))
	return p, nil
}

// A proof is what the self-test found.
type proof struct {
	document sandboxapi.Document
	missing  error // why isolation is not proven; nil if it is
}

// check refuses to serve without a proof, unless that is allowed.
func (p proof) check(cfg Config, log *slog.Logger) error {
	if p.missing == nil {
		return nil
	}
	if cfg.AllowUnprovenIsolation {
		log.Error("serving all the same, as --allow-unproven-isolation says: ISOLATION IS NOT PROVEN", "error", p.missing)
		return nil
	}
	return fmt.Errorf("the isolation of sandboxes could not be shown, so nothing is served; `gateway doctor` tells more, "+
		"and --allow-unproven-isolation serves all the same: %w", p.missing)
}

func newDocument(c sandboxclient.Capabilities, report selftest.Report) sandboxapi.Document {
	doc := sandboxapi.Document{
		Version:   version,
		Isolation: sandboxapi.Isolation{Proven: report.Proven(), Checks: report.Checks},
		Engine:    c.Engine,
		Limits:    c.Limits,
		Languages: report.Languages,
		Warnings:  append([]string{}, c.Engine.Warnings...),
	}
	for _, l := range c.Limits {
		if !l.Enforced && l.Name != sandboxclient.LimitCPUCount { // which is a view, and bounds nothing
			doc.Warnings = append(doc.Warnings, "no limit of "+l.Name+" is enforced: "+l.By)
		}
	}
	return doc
}

func (p proof) tell(log *slog.Logger, took time.Duration) {
	for _, warning := range p.document.Warnings {
		log.Warn(warning)
	}
	if p.missing != nil {
		return
	}
	var languages []string
	for _, l := range p.document.Languages {
		if l.Available {
			languages = append(languages, l.Name+" "+l.Version)
		}
	}
	engine := p.document.Engine
	log.Info("isolation proven", "runtime", engine.Runtime, "version", engine.RuntimeVersion, "languages", languages, "took", took)
}
