package sandboxclient_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sandgate/sandboxclient"
	"sandgate/sandboxclient/wire"
)

// A checkedOut is what a checkout's command came to on this host: the script is
// the same there and in a sandbox, and here every repository can be reached.
type checkedOut struct {
	sandboxclient.CheckedOut
	stdout, stderr string
	err            error // as Failure has it
	took           time.Duration
}

// hang is what a checkout of a small repository takes at most.
const hang = time.Minute

// onHost runs a checkout's command as it is, but for the directory, which is
// out.Dir.
func onHost(t *testing.T, c sandboxclient.Checkout, env ...string) checkedOut {
	t.Helper()
	return onHostTo(t, filepath.Join(t.TempDir(), "app"), c, env...)
}

func onHostTo(t *testing.T, dir string, c sandboxclient.Checkout, env ...string) checkedOut {
	t.Helper()
	c.AllowHTTP = true
	cmd, err := c.Command()
	if err != nil {
		t.Fatal(err)
	}
	const dirArgument = 5
	cmd.Argv[dirArgument] = dir
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	p := exec.CommandContext(ctx, cmd.Argv[0], cmd.Argv[1:]...)
	p.Dir = cmd.Dir
	p.Env = append([]string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + t.TempDir()}, env...)
	for name, value := range cmd.Env {
		p.Env = append(p.Env, name+"="+value)
	}
	var stdout, stderr bytes.Buffer
	p.Stdout, p.Stderr = &stdout, &stderr
	begun := time.Now()
	exit := exitOf(t, p.Run())
	got := checkedOut{
		CheckedOut: sandboxclient.ParseCheckout(stdout.Bytes()),
		stdout:     stdout.String(),
		stderr:     stderr.String(),
		err:        c.Failure(exit, stderr.Bytes()),
		took:       time.Since(begun),
	}
	got.Dir = dir
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("exit code %d, %q, and on stderr:\n%s", exit.ExitCode, got.stdout, got.stderr)
		}
	})
	return got
}

func exitOf(t *testing.T, err error) sandboxclient.Exit {
	t.Helper()
	exit := sandboxclient.Exit{Status: wire.StatusExited}
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		exit.ExitCode = ended.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return exit
}

// want fails unless the checkout succeeded with that commit and ref.
func (c checkedOut) want(t *testing.T, commit, ref string) {
	t.Helper()
	if c.err != nil || c.Commit != commit || c.Ref != ref {
		t.Errorf("got %+v, %v, want %s of %q", c.CheckedOut, c.err, commit, ref)
	}
	if head := c.git(t, "rev-parse", "HEAD"); head != commit {
		t.Errorf("%s is checked out", head)
	}
}

// wantError fails unless the checkout failed with that code and words, and left
// nothing.
func (c checkedOut) wantError(t *testing.T, code sandboxclient.Code, words string) {
	t.Helper()
	if c.err == nil || sandboxclient.CodeOf(c.err) != code || !strings.Contains(c.err.Error(), words) {
		t.Errorf("got %v, want %s and %q", c.err, code, words)
	}
	if entries, err := os.ReadDir(c.Dir); err == nil {
		t.Errorf("it left %v", entries)
	}
}

// has fails unless a file is there with that content.
func (c checkedOut) has(t *testing.T, name, content string) {
	t.Helper()
	if got, err := os.ReadFile(filepath.Join(c.Dir, name)); err != nil || string(got) != content {
		t.Errorf("%s is %q, %v", name, got, err)
	}
}

func (c checkedOut) hasNot(t *testing.T, name string) {
	t.Helper()
	if _, err := os.Lstat(filepath.Join(c.Dir, name)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is there (%v)", name, err)
	}
}

// git asks the checkout's git, without any setting but the repository's own.
func (c checkedOut) git(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = c.Dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null"}
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("git %v: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}
