package sandboxclient

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCheckout_command(t *testing.T) {
	cmd, err := Checkout{
		Repository: " https://Example.ORG:8443/Team/Project.git \n",
		Ref:        "release/1.2", Depth: 3, Submodules: true, LFS: true,
		Timeout: time.Minute, Execution: "some-id", Detach: true,
	}.Command()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"/bin/sh", "-c", checkoutScript, "checkout",
		"https://example.org:8443/Team/Project.git", "/workspace/Project", "clone", "release/1.2", "3", "yes", "yes",
	}
	if diff := cmp.Diff(want, cmd.Argv); diff != "" {
		t.Error(diff)
	}
	if cmd.Timeout != time.Minute || cmd.Execution != "some-id" || !cmd.Detach || cmd.Dir != "/" {
		t.Errorf("got %+v", cmd)
	}
	for name, value := range map[string]string{"NO_PROXY": "", "no_proxy": "", "GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": "https"} {
		if got, ok := cmd.Env[name]; !ok || got != value {
			t.Errorf("%s is %q, %v", name, got, ok)
		}
	}
}

func TestCheckout_commandDefaults(t *testing.T) {
	cmd, err := Checkout{Repository: "https://example.org/a/b"}.Command()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/workspace/b", "clone", "", "", "", ""}, cmd.Argv[dirArgument:]); diff != "" {
		t.Error(diff)
	}
	if cmd.Timeout != checkoutTimeout {
		t.Errorf("it may take %v", cmd.Timeout)
	}
	if got := setting(cmd, "http.lowSpeedTime"); got != "30" {
		t.Errorf("the server may be slow for %q", got)
	}
}

// setting gives git's setting of that name, as the environment says it.
func setting(cmd Command, key string) string {
	for name, value := range cmd.Env {
		if n, ok := strings.CutPrefix(name, "GIT_CONFIG_KEY_"); ok && value == key {
			return cmd.Env["GIT_CONFIG_VALUE_"+n]
		}
	}
	return ""
}

func TestCheckout_targets(t *testing.T) {
	for dir, want := range map[string]string{
		"": "/workspace/p", "app": "/workspace/app", "/workspace/a/../b/": "/workspace/b",
		"/workspace": "/workspace", ".": "/workspace", "-x": "/workspace/-x", "$(id)": "/workspace/$(id)",
	} {
		cmd, err := Checkout{Repository: "https://example.org/p", Dir: dir}.Command()
		if err != nil || cmd.Argv[dirArgument] != want {
			t.Errorf("%q: %v, %v", dir, cmd.Argv, err)
		}
	}
	for _, dir := range []string{"/", "/etc", "..", "/workspace/../etc", "/workspacefoo", "a\x00b"} {
		if _, err := (Checkout{Repository: "https://example.org/p", Dir: dir}).Command(); CodeOf(err) != CodeInvalid {
			t.Errorf("%q: %v", dir, err)
		}
	}
}

func TestCheckout_depths(t *testing.T) {
	for _, depth := range []int{-1, maxDepth + 1} {
		if _, err := (Checkout{Repository: "https://example.org/p", Depth: depth}).Command(); CodeOf(err) != CodeInvalid {
			t.Errorf("%d: %v", depth, err)
		}
	}
}

// The script says at its top what its codes mean.
func TestCheckout_exitCodesAreTheScripts(t *testing.T) {
	want := fmt.Sprintf("no_git=%d not_empty=%d no_ref=%d no_commits=%d no_lfs=%d submodules_failed=%d\n",
		exitNoGit, exitNotEmpty, exitNoRef, exitNoCommits, exitNoLFS, exitSubmodules)
	if !strings.Contains(checkoutScript, want) {
		t.Errorf("the script does not say %s", want)
	}
	for _, code := range []string{WarningLFSPointers, WarningSubmodulesLeftOut} {
		if !strings.Contains(checkoutScript, "warning "+code+" ") {
			t.Errorf("the script does not warn of %s", code)
		}
	}
}

func FuzzCheckout(f *testing.F) {
	for _, seed := range []string{
		"https://a:b@example.org/p.git", "ext::sh", "git@example.org:p", "https://[::1]:1/p", "ssh://u@h/p", "http://h:1/p%2f?x#y", "-x",
	} {
		f.Add(seed, "main", "app")
	}
	f.Fuzz(func(t *testing.T, repository, ref, dir string) {
		c := Checkout{Repository: repository, Ref: ref, Dir: dir, AllowHTTP: true, Schemes: []string{"ssh", "git"}}
		public := c.Public()
		if strings.ContainsFunc(public, isControl) || len(public) > maxRepository+3*maxName {
			t.Errorf("shown as %q", public)
		}
		cmd, err := c.Command()
		if err != nil {
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Errorf("refused with %v", err)
			}
			return
		}
		if public != cmd.Argv[4] {
			t.Errorf("shown as %q, given as %q", public, cmd.Argv[4])
		}
		checkArguments(t, cmd)
	})
}

func checkArguments(t *testing.T, cmd Command) {
	t.Helper()
	url, dir, ref := cmd.Argv[4], cmd.Argv[dirArgument], cmd.Argv[7]
	scheme, rest, isURL := strings.Cut(url, "://")
	if isURL && !slices.Contains([]string{"https", "http", "ssh", "git"}, scheme) {
		t.Errorf("git may use %q", url)
	}
	authority, _, _ := strings.Cut(rest, "/")
	if scheme != "ssh" && strings.Contains(authority, "@") {
		t.Errorf("git is given %q", url)
	}
	if strings.HasPrefix(url, "-") || strings.HasPrefix(ref, "-") || strings.ContainsFunc(url+ref, isControl) || strings.Contains(url, " ") {
		t.Errorf("git is given %q and %q", url, ref)
	}
	if got, ok := ResolveWorkspacePath(dir); !ok || got != dir {
		t.Errorf("git is to clone to %q", dir)
	}
	for name, value := range cmd.Env {
		if strings.ContainsAny(value, "\x00") || strings.HasPrefix(name, "SANDGATE") && strings.ContainsFunc(value, isControl) {
			t.Errorf("%s is %q", name, value)
		}
	}
}
