package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"sandgate/internal/sandboxtest"
)

// tests lists what it takes to test a repository.
func (l *lab) tests() []comparison {
	return []comparison{
		{
			name: "npm ci && npm test, Mocha", against: "host", aim: "≤ 1.9", unit: "ms", rounds: 3,
			measured: l.installAndTest, reference: l.npmOnHost,
		},
		{
			name: "POST /tests to its end, Mocha", against: "host", aim: "no aim yet", unit: "ms", rounds: 3,
			measured: l.wholeRun, reference: l.cloneOnHost,
		},
		{
			name: "POST /tests to the first event", against: "ping", aim: "≤ 150 ms", unit: "ms", rounds: 5,
			measured: l.firstEvent, reference: l.ping,
		},
		{
			name: "POST /tests to the first line", against: "ping", aim: "no aim yet", unit: "ms", rounds: 5,
			measured: l.firstLine, reference: l.ping,
		},
		{
			name: "test's line to line read, p95", against: "ping", aim: "≤ 20 ms", unit: "ms", rounds: 10,
			measured: l.testLatency, reference: l.ping,
		},
	}
}

// mocha is a small project with some hundred dependencies.
func mocha() string {
	return filepath.Join(filepath.Dir(sandboxtest.Bin("")), "internal/e2e/testdata/projects/mocha")
}

// startTests starts a run. Without a command it is what a project asks for.
func (l *lab) startTests(ctx context.Context, command string) (*stream, error) {
	if l.repository == "" {
		var err error
		if l.repository, err = l.git.add("mocha", mocha()); err != nil {
			return nil, err
		}
	}
	body, err := json.Marshal(map[string]string{"repository": l.repository, "command": command})
	if err != nil {
		return nil, err
	}
	return l.watch(ctx, http.MethodPost, l.standard.URL+"/tests", string(body))
}

// installAndTest gives the time of the two phases that the host has as well.
func (l *lab) installAndTest(ctx context.Context) (float64, error) {
	s, err := l.startTests(ctx, "")
	if err != nil {
		return 0, err
	}
	defer s.close()
	took := 0.0
	err = s.succeed(func(e event) {
		if e.State == "ended" && (e.Phase == "install" || e.Phase == "test") {
			took += e.DurationMS
		}
	})
	return took, err
}

// wholeRun gives the time of everything, as its viewer sees it.
func (l *lab) wholeRun(ctx context.Context) (float64, error) {
	return timed(func(ctx context.Context) error {
		s, err := l.startTests(ctx, "")
		if err != nil {
			return err
		}
		defer s.close()
		return s.succeed(func(event) {})
	})(ctx)
}

// firstEvent gives the time until a viewer knows that there is a run.
func (l *lab) firstEvent(ctx context.Context) (float64, error) {
	return l.untilTests(ctx, func(event) bool { return true })
}

// firstLine gives the time until something of the repository's has run: a new
// sandbox and a clone.
func (l *lab) firstLine(ctx context.Context) (float64, error) {
	return l.untilTests(ctx, func(e event) bool { return e.Data == "here\n" })
}

// untilTests times a run up to the first event that is wanted.
func (l *lab) untilTests(ctx context.Context, wanted func(event) bool) (float64, error) {
	began := time.Now()
	s, err := l.startTests(ctx, "echo here")
	if err != nil {
		return 0, err
	}
	defer s.close()
	if err := s.until(wanted); err != nil {
		return 0, err
	}
	took := time.Since(began)
	return milliseconds(took), s.succeed(func(event) {})
}

// testLatency gives the 95th percentile of the times, in one run, from a line's
// print in the sandbox until its viewer has read it.
func (l *lab) testLatency(ctx context.Context) (float64, error) {
	s, err := l.startTests(ctx, "python3 -c '"+clock+"'")
	if err != nil {
		return 0, err
	}
	defer s.close()
	return s.latency(0.95)
}

// npmOnHost does on the host what the two phases do, with an empty cache as well.
func (l *lab) npmOnHost(ctx context.Context) (float64, error) {
	return l.onHost(ctx, `cp -R "$1" app`, `cd app && npm ci && npm test`, mocha())
}

// cloneOnHost does all of it.
func (l *lab) cloneOnHost(ctx context.Context) (float64, error) {
	return l.onHost(ctx, "true", `git clone -q --depth 1 "$1" app && cd app && npm ci && npm test`, l.repository)
}

// onHost times a script in a new directory, after another that is not timed.
func (l *lab) onHost(ctx context.Context, before, script, arg string) (float64, error) {
	dir, err := os.MkdirTemp(l.dir, "host")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	shell := func(script string) sample {
		return timed(func(ctx context.Context) error {
			cmd := exec.CommandContext(ctx, "bash", "-euc", script, "bash", arg)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "CI=true", "TERM=dumb", "npm_config_cache="+dir+"/.npm",
				"npm_config_audit=false", "npm_config_fund=false", "npm_config_update_notifier=false")
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(out)))
			}
			return nil
		})
	}
	if _, err := shell(before)(ctx); err != nil {
		return 0, err
	}
	return shell(script)(ctx)
}
