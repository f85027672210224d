package livetest

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"sandgate/internal/sandboxtest"
	"sandgate/sandboxclient"
	"sandgate/sandboxclient/wire"
)

func TestMain(m *testing.M) { os.Exit(sandboxtest.Main(m)) }

// hang is the bound that tells a hang from a slow machine.
const hang = 2 * time.Minute

// A sandbox is a real one, whose failures end the test.
type sandbox struct {
	*testing.T
	*sandboxclient.Sandbox
}

func newSandbox(t *testing.T) sandbox {
	t.Helper()
	ref := sandboxclient.Ref{Owner: "test", App: "livetest", Name: t.Name()}
	return sandbox{T: t, Sandbox: sandboxtest.Client(t).Sandbox(ref)}
}

func (s sandbox) exec(cmd sandboxclient.Command) *sandboxclient.ExecResult {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), hang)
	defer cancel()
	result, err := s.Exec(ctx, cmd)
	if err != nil {
		s.Fatalf("%q: %v", cmd.Argv, err)
	}
	return result
}

// sh runs a script that must succeed, and gives what it prints.
func (s sandbox) sh(script string) string {
	s.Helper()
	result := s.exec(sandboxclient.Command{Argv: []string{"bash", "-c", script}})
	if result.Exit.Status != wire.StatusExited || result.Exit.ExitCode != 0 {
		s.Fatalf("%s\nended as %+v: %s%s", script, result.Exit, result.Stdout, result.Stderr)
	}
	return string(result.Stdout)
}

// cell runs Python in the sandbox's default context.
func (s sandbox) cell(code string) *sandboxclient.Run {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), hang)
	defer cancel()
	run, err := s.RunCode(ctx, code, sandboxclient.RunOptions{})
	if err != nil {
		s.Fatalf("%s: %v", code, err)
	}
	return run
}

// processes lists the command lines of the sandbox user's processes but those
// that list.
func (s sandbox) processes() []string {
	s.Helper()
	var found []string
	for line := range strings.Lines(s.sh(`
		for p in /proc/[0-9]*; do
			[ "$(stat -c %u $p 2>/dev/null)" = 20000 ] || continue
			[ ${p#/proc/} = $$ ] || echo $(tr '\0' ' ' <$p/cmdline 2>/dev/null)
		done`)) {
		if line = strings.TrimSpace(line); line != "" && !strings.Contains(line, "cmdline") {
			found = append(found, line)
		}
	}
	return found
}

// count says how many processes have the word in their command line.
func (s sandbox) count(word string) int {
	s.Helper()
	n := 0
	for _, line := range s.processes() {
		if strings.Contains(line, word) {
			n++
		}
	}
	return n
}

func (s sandbox) wantLines(got string, want ...string) {
	s.Helper()
	if got != strings.Join(want, "\n")+"\n" {
		s.Errorf("got\n%swant\n%s", got, fmt.Sprintln(strings.Join(want, "\n")))
	}
}
