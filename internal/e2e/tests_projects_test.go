package e2e

import (
	"os"
	"strings"
	"testing"

	"sandgate/internal/sandboxtest"
)

// sample serves one of testdata/projects.
func (l lab) sample(name string) string {
	return l.project("sample/"+name, os.DirFS("testdata/projects/"+name))
}

// TestProjects are real ones, with dependencies from the registry that this
// machine's npm is configured for: some of them in an ordinary test, all of them
// in TestSoakProjects.
func TestProjects(t *testing.T) {
	t.Parallel()
	testProjects(t, "mocha", "yarn-berry", "postinstall")
}

// TestSoakProjects belongs to `make soak`.
func TestSoakProjects(t *testing.T) {
	if os.Getenv("SOAK_RUNS") == "" {
		t.Skip("make soak installs and tests every project")
	}
	testProjects(t, "mocha", "jest", "vitest", "no-lock", "pnpm", "yarn", "yarn-berry", "postinstall")
}

func testProjects(t *testing.T, projects ...string) {
	sandboxtest.Require(t)
	l := openLab(t)
	known := map[string]struct{ install, framework string }{
		"mocha":       {"npm ci", "mocha"},
		"jest":        {"npm ci", "jest"},
		"vitest":      {"npm ci", "vitest"},
		"no-lock":     {"npm install", "node:test"},
		"pnpm":        {"pnpm install --frozen-lockfile", "node:test"},
		"yarn":        {"yarn install --frozen-lockfile", "node:test"},
		"yarn-berry":  {"yarn install --immutable", "node:test"},
		"postinstall": {"npm ci", "node:test"},
	}
	for _, project := range projects {
		c := known[project]
		t.Run(project, func(t *testing.T) {
			t.Parallel()
			s := l.test(t, l.sample(project))
			end := s.end().ended(t, "test", 0)
			if r := end.Results; r == nil || r.Framework != c.framework || r.Passed == 0 || r.Failed != 0 || end.ResultsDisagree {
				t.Errorf("results %+v, disagree %v", r, end.ResultsDisagree)
			}
			for _, e := range s.seen {
				if e.Phase == "install" && e.State == "started" && e.Command != c.install {
					t.Errorf("installed by %q", e.Command)
				}
			}
			if project == "postinstall" {
				checkProbes(t, s.output())
			}
		})
	}
}

// checkProbes reads what hostile install scripts found out, the repository's
// own and, where npm runs it, that of a dependency.
func checkProbes(t *testing.T, output string) {
	t.Helper()
	done := 0
	for line := range strings.Lines(output) {
		if !strings.HasPrefix(line, "probe by ") {
			continue
		}
		found := strings.TrimSpace(line[strings.LastIndex(line, ": ")+1:])
		for _, success := range []string{"CONNECTED", "FOUND", "READ", "WRITTEN", "ALL"} {
			if strings.HasPrefix(found, success) {
				t.Errorf("%s", line)
			}
		}
		if found == "done" {
			done++
		}
	}
	if done == 0 {
		t.Error("no probe came to its end: nothing is tested")
	}
}
