package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sandgate/internal/sandboxtest"
)

// capabilities is what the gateway says that it is able to do.
type capabilities struct {
	Isolation struct {
		Proven bool
		Checks []struct {
			Name          string
			Proven        bool
			Found, Remedy string
		}
	}
	Engine struct {
		Runtime, RuntimeVersion, Network string
		OwnKernel, Hibernation           bool
	}
	Limits []struct {
		Name     string
		Value    float64
		Enforced bool
		By       string
	}
	Languages []struct {
		Name, Version, Engine string
		Available             bool
	}
	Warnings []string
}

func askCapabilities(t *testing.T, g *sandboxtest.Gateway) capabilities {
	t.Helper()
	a := ask(t, http.MethodGet, g.URL+"/v1/capabilities", "").has(http.StatusOK)
	var c capabilities
	if err := json.Unmarshal([]byte(a.body), &c); err != nil {
		t.Fatalf("%v in %q", err, a.body)
	}
	return c
}

func TestCapabilities(t *testing.T) {
	for _, runtime := range []string{"runsc", "runc"} {
		t.Run(runtime, func(t *testing.T) {
			t.Parallel()
			g := start(t, "--runtime", runtime, "--memory", "300MiB", "--python-engine", "python")
			c := askCapabilities(t, g)
			if !c.Isolation.Proven || len(c.Isolation.Checks) < 10 {
				t.Errorf("isolation: %+v", c.Isolation)
			}
			if c.Engine.Runtime != runtime || c.Engine.RuntimeVersion == "" || c.Engine.Network != "none" || c.Engine.OwnKernel != (runtime == "runsc") {
				t.Errorf("engine: %+v", c.Engine)
			}
			for _, l := range c.Limits {
				if l.By == "" || l.Name == "memory" && (l.Value != 300<<20 || !l.Enforced) {
					t.Errorf("limit: %+v", l)
				}
			}
			if python := c.Languages[0]; python.Name != "python" || !python.Available || python.Version == "" || python.Engine != "python" {
				t.Errorf("languages: %+v", c.Languages)
			}
		})
	}
}

func TestCapabilities_noLimitIsTold(t *testing.T) {
	t.Parallel()
	c := askCapabilities(t, start(t, "--workspace-size", "0"))
	meant := func(warning string) bool { return strings.Contains(warning, "workspaceDisk") }
	if !slices.ContainsFunc(c.Warnings, meant) {
		t.Errorf("warnings: %q", c.Warnings)
	}
}

// looseRuntime is a runsc that gives sandboxes more open files than it is told.
func looseRuntime(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "runsc")
	script := fmt.Sprintf(`#!/bin/sh
case "$*" in *" run "*) sed -i s/:4096/:5000/g "$(echo "$*" | sed 's/.*--bundle \([^ ]*\).*/\1/')/config.json";; esac
exec %s "$@"
`, sandboxtest.Bin("runsc"))
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSelfTest_withoutAProofNothingIsServed(t *testing.T) {
	t.Parallel()
	sandboxtest.Require(t)
	dir := stateDir(t)
	g, err := startRaw(dir, "--runtime", looseRuntime(t))
	if err == nil {
		g.Kill()
		t.Fatal("it serves although a limit is missing")
	}
	for _, want := range []string{"could not be shown", "limit of openFiles: 5000", "gateway doctor", "--allow-unproven-isolation"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in the refusal: %v", want, err)
		}
	}
	nothingLeft(t, dir)
}

func TestSelfTest_canBeOverruled(t *testing.T) {
	t.Parallel()
	g := start(t, "--runtime", looseRuntime(t), "--allow-unproven-isolation")
	if c := askCapabilities(t, g); c.Isolation.Proven {
		t.Errorf("isolation: %+v", c.Isolation)
	}
	if !strings.Contains(g.Log(), "ISOLATION IS NOT PROVEN") {
		t.Error("the log does not say so")
	}
}

func TestDoctor(t *testing.T) {
	t.Parallel()
	sandboxtest.Require(t)
	doctor := func(args ...string) (string, error) {
		args = append([]string{"doctor", "--state-dir", stateDir(t)}, args...)
		out, err := exec.CommandContext(t.Context(), sandboxtest.Bin("gateway"), args...).CombinedOutput()
		return string(out), err
	}
	out, err := doctor()
	if err != nil || !strings.Contains(out, "ok    isolation") || !strings.Contains(out, "ok    language  python") {
		t.Errorf("%v\n%s", err, out)
	}
	out, err = doctor("--runtime", looseRuntime(t))
	if err == nil || !strings.Contains(out, "FAIL  isolation limit of open files") {
		t.Errorf("%v\n%s", err, out)
	}
}
