package sandboxclient_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sandgate/internal/egress"
	"sandgate/internal/sandboxtest"
	"sandgate/sandboxclient"
)

func TestMain(m *testing.M) { os.Exit(sandboxtest.Main(m)) }

// newBox gives a real sandbox that may reach the git servers, and nothing else.
func newBox(t *testing.T, limits sandboxclient.Limits, servers ...*sandboxtest.GitServer) *sandboxclient.Sandbox {
	t.Helper()
	sandboxtest.Require(t)
	policy := &egress.Policy{Apps: map[string]egress.Mode{"testrunner": egress.AllowList}}
	for _, server := range servers {
		u, err := url.Parse(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		target, err := egress.ParseTarget(u.Host)
		if err != nil {
			t.Fatal(err)
		}
		policy.Private = append(policy.Private, target)
	}
	gate := egress.New(egress.Options{
		Policy: policy, Logger: slog.New(slog.NewTextHandler(t.Output(), nil)), Registry: prometheus.NewRegistry(),
	})
	client := sandboxtest.New(t, sandboxclient.Options{Egress: gate, Limits: limits})
	box := client.Sandbox(sandboxclient.Ref{Owner: "local", App: "testrunner", Name: t.Name()})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), hang)
		defer cancel()
		if err := box.Destroy(ctx, sandboxclient.RemoveWorkspace); err != nil {
			t.Error(err)
		}
	})
	return box
}

// sh runs a script in the sandbox and gives what it prints.
func sh(t *testing.T, box *sandboxclient.Sandbox, script string) string {
	t.Helper()
	result, err := box.Exec(t.Context(), sandboxclient.Command{Argv: []string{"/bin/sh", "-c", script}})
	if err != nil {
		t.Fatal(err)
	}
	return string(result.Stdout)
}

func TestGitCheckout(t *testing.T) {
	server := sandboxtest.ServeGit(t)
	repo := server.AddRepository("team/project.git", text("a", "1", ".gitmodules", "", ".gitattributes", "b filter=lfs\n", "b", pointer(1)), well())
	box := newBox(t, sandboxclient.DefaultLimits(), server)
	c := sandboxclient.Checkout{Repository: " " + repo.URL + "\n", AllowHTTP: true, Depth: 1}
	got, err := box.GitCheckout(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if got.Commit != repo.Commit || got.Ref != "main" || got.Dir != "/workspace/project" || len(got.Warnings) != 2 {
		t.Errorf("got %+v", got)
	}
	file, err := box.ReadFile(t.Context(), got.Dir+"/a", sandboxclient.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Body.Close()
	if content, err := io.ReadAll(file.Body); string(content) != "1" || err != nil {
		t.Errorf("the file says %q, %v", content, err)
	}

	_, err = box.GitCheckout(t.Context(), c)
	if sandboxclient.CodeOf(err) != sandboxclient.CodeConflict {
		t.Errorf("again: %v", err)
	}
	c.Dir, c.Ref = "by commit", repo.Commit[:10]
	if got, err = box.GitCheckout(t.Context(), c); err != nil || got.Dir != "/workspace/by commit" || got.Ref != c.Ref || got.Commit != repo.Commit {
		t.Errorf("got %+v, %v", got, err)
	}
	c.Dir, c.Ref = "none", "nothing"
	if _, err = box.GitCheckout(t.Context(), c); sandboxclient.CodeOf(err) != sandboxclient.CodeNotFound {
		t.Errorf("got %v", err)
	}
	c.Repository = "file:///etc"
	if _, err = box.GitCheckout(t.Context(), c); sandboxclient.CodeOf(err) != sandboxclient.CodeForbidden {
		t.Errorf("got %v", err)
	}
	if left := sh(t, box, "ls /workspace"); left != "by commit\nproject\n" {
		t.Errorf("/workspace holds %q", left)
	}
}

func TestGitCheckout_credentialsAreGoneAfterIt(t *testing.T) {
	server := sandboxtest.ServeGit(t)
	private := sandboxtest.GitOptions{User: user, Password: "pa$$ w0rd/of-Ada"}
	server.AddRepository("sub", text("b", "2"), private)
	repo := server.AddRepository("p", text("a", "1"), private)
	commit := addSubmodule(t, repo, "sub", "../sub")
	box := newBox(t, sandboxclient.DefaultLimits(), server)
	c := sandboxclient.Checkout{Repository: repo.URL, AllowHTTP: true, Submodules: true}

	begun := time.Now()
	if _, err := box.GitCheckout(t.Context(), c); sandboxclient.CodeOf(err) != sandboxclient.CodeForbidden || time.Since(begun) > 5*time.Second {
		t.Errorf("without them: %v after %v", err, time.Since(begun))
	}
	c.Repository = as(url.UserPassword(user, private.Password).String()+"@", repo.URL)
	got, err := box.GitCheckout(t.Context(), c)
	if err != nil || got.Commit != commit {
		t.Fatalf("got %+v, %v", got, err)
	}
	if s := sh(t, box, "grep -rlaF -e w0rd/of -e w0rd%2Fof /workspace /tmp /home/sandbox"); s != "" {
		t.Errorf("they are in %s", s)
	}
	if s := sh(t, box, "cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline | tr '\\0' '\\n' | grep -e ^SANDGATE -e '-Ada$'"); s != "" {
		t.Errorf("they are in %s", s)
	}
	if s := sh(t, box, "cd p && git config --list | grep -i -e credential -e lovelace -e w0rd"); s != "" {
		t.Errorf("they are in %s", s)
	}
}

func TestGitCheckout_ends(t *testing.T) {
	server := sandboxtest.ServeGit(t)
	silent := server.AddRepository("silent", text("a", "1"), sandboxtest.GitOptions{Silent: true})
	slow := server.AddRepository("slow", text("a", "1"), sandboxtest.GitOptions{Slow: true})
	box := newBox(t, sandboxclient.DefaultLimits(), server)
	for name, c := range map[string]sandboxclient.Checkout{
		"timeout": {Repository: silent.URL, Timeout: 2 * time.Second},
		"silent":  {Repository: silent.URL, LowSpeed: 2 * time.Second},
		"slow":    {Repository: slow.URL, LowSpeed: 2 * time.Second},
	} {
		c.AllowHTTP = true
		_, err := box.GitCheckout(t.Context(), c)
		if sandboxclient.CodeOf(err) != sandboxclient.CodeTimeout {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	_, err := box.GitCheckout(ctx, sandboxclient.Checkout{Repository: silent.URL, AllowHTTP: true})
	if err == nil {
		t.Error("it came to an end without an answer")
	}
	if left := sh(t, box, "ls -A /workspace; ps -e -o args | grep '[g]it '"); left != "" {
		t.Errorf("this is left: %s", left)
	}
}

// A checkout that ends before it looked at its target takes nothing away.
func TestGitCheckout_endsBeforeItBegins(t *testing.T) {
	server := sandboxtest.ServeGit(t)
	repo := server.AddRepository("p", text("a", "1"), well())
	box := newBox(t, sandboxclient.DefaultLimits(), server)
	sh(t, box, "mkdir kept && echo mine > kept/file")
	c := sandboxclient.Checkout{Repository: repo.URL, Dir: "kept", AllowHTTP: true, Timeout: time.Millisecond}
	if _, err := box.GitCheckout(t.Context(), c); err == nil {
		t.Error("it succeeded")
	}
	if left := sh(t, box, "cat kept/file"); left != "mine\n" {
		t.Errorf("the file says %q", left)
	}
}

func TestGitCheckout_reachesNothingElse(t *testing.T) {
	server, other := sandboxtest.ServeGit(t), sandboxtest.ServeGit(t)
	there := other.AddRepository("p", text("a", "1"), well())
	away := server.AddRepository("p", nil, sandboxtest.GitOptions{Redirect: other.URL})
	outer := server.AddRepository("outer", text("a", "1"), well())
	addSubmodule(t, outer, "sub", there.URL)
	box := newBox(t, sandboxclient.DefaultLimits(), server)
	for name, c := range map[string]sandboxclient.Checkout{
		"directly":        {Repository: there.URL},
		"by TLS":          {Repository: strings.Replace(there.URL, "http:", "https:", 1)},
		"by a redirect":   {Repository: away.URL},
		"by a submodule":  {Repository: outer.URL, Submodules: true},
		"metadata":        {Repository: "http://169.254.169.254/p"},
		"by another name": {Repository: "http://metadata.google.internal/p"},
	} {
		c.AllowHTTP = true
		_, err := box.GitCheckout(t.Context(), c)
		if err == nil {
			t.Errorf("%s: it was reached", name)
		}
	}
	if len(other.Requests()) != 0 {
		t.Errorf("it was asked for %v", other.Requests())
	}
}

func TestGitCheckout_moreThanFits(t *testing.T) {
	server := sandboxtest.ServeGit(t)
	large := manyFiles(server.AddRepository("large", nil, well()), 250, 250)
	bomb := manyFiles(server.AddRepository("bomb", nil, well()), 500, 500, 500)
	limits := sandboxclient.DefaultLimits()
	limits.WorkspaceBytes = 32 << 20
	box := newBox(t, limits, server)

	c := sandboxclient.Checkout{Repository: large.URL, AllowHTTP: true, Depth: 1, Dir: "app"}
	if _, err := box.GitCheckout(t.Context(), c); sandboxclient.CodeOf(err) != sandboxclient.CodeNoSpace {
		t.Errorf("on the disk: %v", err)
	}
	c.Repository = bomb.URL
	_, err := box.GitCheckout(t.Context(), c)
	if code := sandboxclient.CodeOf(err); code != sandboxclient.CodeNoSpace && code != sandboxclient.CodeTooLarge {
		t.Errorf("in memory: %v", err)
	}
	if left := sh(t, box, "ls -A /workspace; echo works >/workspace/f; cat /workspace/f"); left != "works\n" {
		t.Errorf("then there is %q", left)
	}
}

// manyFiles commits a tree of so many entries at each level, each file of which
// has 4 KiB. In the repository that takes no room.
func manyFiles(repo *sandboxtest.GitRepository, levels ...int) *sandboxtest.GitRepository {
	entry := "100644 blob " + repo.GitInput(strings.Repeat("0123456789abcdef", 256), "hash-object", "-w", "--stdin")
	for _, n := range levels {
		var entries strings.Builder
		for i := range n {
			fmt.Fprintf(&entries, "%s\te%d\n", entry, i)
		}
		entry = "040000 tree " + repo.GitInput(entries.String(), "mktree")
	}
	repo.AddTree("main", entry[len("040000 tree "):])
	return repo
}
