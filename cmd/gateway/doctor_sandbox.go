package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sandgate/handlers/sandboxapi"
	"sandgate/sandboxclient"
	"sandgate/sandboxclient/selftest"
)

// findings are what doctor prints, a line for each.
type findings struct {
	w      io.Writer
	failed int
}

func (f *findings) tell(name, found string, err error) {
	if err != nil {
		f.failed++
		f.line("FAIL", name, err.Error())
		return
	}
	f.line("ok", name, found)
}

// skip tells of what is not there, and need not be.
func (f *findings) skip(name, why string) { f.line("--", name, why) }

func (f *findings) line(state, name, text string) {
	fmt.Fprintf(f.w, "%-4s  %-9s %s\n", state, name, text)
}

// tellSandbox makes a sandbox as the gateway does when it starts, and tells what
// was found.
func tellSandbox(ctx context.Context, cfg Config, f *findings) {
	began := time.Now()
	doc, err := trySandbox(ctx, cfg)
	took := time.Since(began).Round(time.Millisecond)
	f.tell("sandbox", fmt.Sprintf("started, looked at and ended in %v", took), err)
	if err != nil {
		return
	}
	for _, c := range doc.Isolation.Checks {
		f.tellCheck(c)
	}
	for _, l := range doc.Limits {
		f.tellLimit(l)
	}
	for _, l := range doc.Languages {
		f.tellLanguage(l)
	}
	for _, warning := range doc.Engine.Warnings {
		f.skip("warning", warning)
	}
}

func (f *findings) tellCheck(c selftest.Check) {
	if c.Proven {
		f.tell("isolation", spaced(c.Name)+": "+c.Found, nil)
		return
	}
	f.tell("isolation", "", fmt.Errorf("%s: %s: %s", spaced(c.Name), c.Found, c.Remedy))
}

func (f *findings) tellLimit(l sandboxclient.Limit) {
	if l.Enforced {
		f.tell("limit", fmt.Sprintf("%s: %s %s, held by %s", spaced(l.Name), strconv.FormatFloat(l.Value, 'f', -1, 64), l.Unit, l.By), nil)
		return
	}
	f.skip("limit", spaced(l.Name)+" is not enforced: "+l.By)
}

var hump = regexp.MustCompile("[a-z][A-Z]")

// spaced reads a name of the API, such as openFiles, to people.
func spaced(name string) string {
	return hump.ReplaceAllStringFunc(name, func(s string) string { return s[:1] + " " + strings.ToLower(s[1:]) })
}

func (f *findings) tellLanguage(l selftest.Language) {
	if l.Available {
		f.tell("language", fmt.Sprintf("%s %s, run by %s", l.Name, l.Version, l.Engine), nil)
		return
	}
	f.skip("language", l.Name+" is not available: "+l.Reason)
}

// trySandbox makes a sandbox beside everything that is in use, and leaves
// nothing behind.
func trySandbox(ctx context.Context, cfg Config) (_ sandboxapi.Document, err error) {
	cfg.Database = ""
	cfg.AllowUnprovenIsolation = true // what is not proven is told line by line
	cfg.StateDir, err = os.MkdirTemp("", "sandgate-")
	if err != nil {
		return sandboxapi.Document{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(cfg.StateDir)) }()
	sandboxes, closeClient, err := openClient(ctx, cfg, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	if err != nil {
		return sandboxapi.Document{}, err
	}
	proof := sandboxes.proof
	if len(proof.document.Isolation.Checks) == 0 { // nothing could be looked at
		return proof.document, errors.Join(proof.missing, closeClient())
	}
	return proof.document, closeClient()
}
