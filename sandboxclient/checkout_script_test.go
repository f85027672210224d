package sandboxclient_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"sandgate/internal/sandboxtest"
	"sandgate/sandboxclient"
)

// text is a tree of plain files.
func text(namesAndContents ...string) fstest.MapFS {
	files := make(fstest.MapFS)
	for i := 0; i < len(namesAndContents); i += 2 {
		files[namesAndContents[i]] = &fstest.MapFile{Data: []byte(namesAndContents[i+1]), Mode: 0o644}
	}
	return files
}

func well() sandboxtest.GitOptions { return sandboxtest.GitOptions{} }

func TestCheckoutScript_defaultBranch(t *testing.T) {
	repo := sandboxtest.ServeGit(t).AddRepository("team/p.git", text("a", "1"), well())
	next := repo.AddCommit("main", text("a", "2", "run.sh", "#!/bin/sh"))
	repo.AddCommit("other", text("b", "3"))

	got := onHost(t, sandboxclient.Checkout{Repository: repo.URL, Depth: 1})
	got.want(t, next, "main")
	got.has(t, "a", "2")
	if n := got.git(t, "rev-list", "--count", "--all"); n != "1" {
		t.Errorf("%s commits came", n)
	}
	if status := got.git(t, "status", "--porcelain", "--branch"); status != "## main...origin/main" {
		t.Errorf("the status is %q", status)
	}
	if !strings.Contains(got.stderr, "Receiving objects: 100%") {
		t.Errorf("no progress was shown in %q", got.stderr)
	}

	whole := onHost(t, sandboxclient.Checkout{Repository: repo.URL})
	whole.want(t, next, "main")
	if n := whole.git(t, "rev-list", "--count", "--all"); n != "3" {
		t.Errorf("%s commits came", n)
	}
}

func TestCheckoutScript_refs(t *testing.T) {
	server := sandboxtest.ServeGit(t)
	repo := server.AddRepository("p", text("a", "1"), well())
	first := repo.Commit
	second := repo.AddCommit("main", text("a", "2"))
	repo.AddCommit("main", text("a", "3"))
	branch := repo.AddCommit("feature/x", text("a", "x"))
	hexBranch := repo.AddCommit("cafe123", text("a", "hex"))
	pull := repo.AddCommit("gone", text("a", "pull"))
	odd := repo.AddCommit("ü+%$(id);'\"", text("a", "odd"))
	repo.Git("update-ref", "refs/pull/1/head", pull)
	repo.Git("update-ref", "-d", "refs/heads/gone")
	repo.Git("tag", "v1", first)
	repo.Git("tag", "-a", "-m", "An annotated one", "v2", second)
	repo.Git("tag", "main", first) // as the branch is called

	for ref, want := range map[string]struct{ commit, ref string }{
		"feature/x":            {branch, "feature/x"},
		"refs/heads/feature/x": {branch, "feature/x"},
		"cafe123":              {hexBranch, "cafe123"},
		"ü+%$(id);'\"":         {odd, "ü+%$(id);'\""},
		"v1":                   {first, ""},
		"v2":                   {second, ""},
		"refs/tags/v2":         {second, ""},
		"refs/tags/main":       {first, ""},
		"refs/pull/1/head":     {pull, ""},
		second:                 {second, ""},
		strings.ToUpper(first): {first, ""},
		second[:7]:             {second, ""},
	} {
		t.Run(ref, func(t *testing.T) {
			got := onHost(t, sandboxclient.Checkout{Repository: repo.URL, Ref: ref, Depth: 1})
			got.want(t, want.commit, want.ref)
		})
	}
	for _, ref := range []string{"nothing", "refs/pull/2/head", "refs/tags/v3", "abcdef0", strings.Repeat("ab", 20)} {
		t.Run(ref, func(t *testing.T) {
			got := onHost(t, sandboxclient.Checkout{Repository: repo.URL, Ref: ref, Depth: 1})
			got.wantError(t, sandboxclient.CodeNotFound, "no branch, tag or commit "+ref)
		})
	}
}

// Such a server gives only what is at a tip: the history is looked through.
func TestCheckoutScript_commitThatTheServerDoesNotGive(t *testing.T) {
	server := sandboxtest.ServeGit(t)
	repo := server.AddRepository("p", text("a", "1"), sandboxtest.GitOptions{OldProtocol: true})
	repo.AddCommit("main", text("a", "2"))
	got := onHost(t, sandboxclient.Checkout{Repository: repo.URL, Ref: repo.Commit, Depth: 1})
	got.want(t, repo.Commit, "")
	if !strings.Contains(got.stderr, "Looking for "+repo.Commit+" in the whole history") {
		t.Errorf("nobody is told: %s", got.stderr)
	}
}

func TestCheckoutScript_nothingToCheckOut(t *testing.T) {
	server := sandboxtest.ServeGit(t)
	empty := server.AddRepository("empty", nil, well())
	onHost(t, sandboxclient.Checkout{Repository: empty.URL}).wantError(t, sandboxclient.CodeNotFound, "no default branch")
	onHost(t, sandboxclient.Checkout{Repository: empty.URL, Ref: "main"}).wantError(t, sandboxclient.CodeNotFound, "commit main")
	headless := server.AddRepository("headless", text("a", "1"), well())
	headless.Git("symbolic-ref", "HEAD", "refs/heads/nothing")
	onHost(t, sandboxclient.Checkout{Repository: headless.URL}).wantError(t, sandboxclient.CodeNotFound, "no default branch")
	detached := server.AddRepository("detached", text("a", "1"), well())
	detached.Git("update-ref", "--no-deref", "HEAD", detached.Commit)
	onHost(t, sandboxclient.Checkout{Repository: detached.URL}).want(t, detached.Commit, "main")
}

func TestCheckoutScript_target(t *testing.T) {
	repo := sandboxtest.ServeGit(t).AddRepository("p", text("a", "1"), well())
	c := sandboxclient.Checkout{Repository: repo.URL}
	parent := t.TempDir()

	empty := filepath.Join(parent, "-empty 'dir'")
	if err := os.Mkdir(empty, 0o755); err != nil {
		t.Fatal(err)
	}
	onHostTo(t, empty, c).want(t, repo.Commit, "main")
	again := onHostTo(t, empty, c)
	if sandboxclient.CodeOf(again.err) != sandboxclient.CodeConflict {
		t.Errorf("got %v", again.err)
	}
	again.has(t, "a", "1")
	onHostTo(t, filepath.Join(parent, "made", "on", "the way"), c).want(t, repo.Commit, "main")

	file, link := filepath.Join(parent, "file"), filepath.Join(parent, "link")
	if err := os.WriteFile(file, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), link); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, link} {
		if got := onHostTo(t, dir, c); sandboxclient.CodeOf(got.err) != sandboxclient.CodeConflict {
			t.Errorf("%s: %v", dir, got.err)
		}
	}
}

// What failed can be tried again, in the same place.
func TestCheckoutScript_leavesNothingOfAFailure(t *testing.T) {
	repo := sandboxtest.ServeGit(t).AddRepository("p", text("a", "1"), well())
	dir := t.TempDir()
	for _, ref := range []string{"nothing", "abcdef0", strings.Repeat("ab", 20), "refs/pull/1/head"} {
		got := onHostTo(t, dir, sandboxclient.Checkout{Repository: repo.URL, Ref: ref})
		if entries, err := os.ReadDir(dir); got.err == nil || err != nil || len(entries) != 0 {
			t.Errorf("%v; %v, %v", got.err, entries, err)
		}
	}
	onHostTo(t, dir, sandboxclient.Checkout{Repository: repo.URL}).want(t, repo.Commit, "main")
}

func TestCheckoutScript_badServers(t *testing.T) {
	server := sandboxtest.ServeGit(t)
	for name, c := range map[string]struct {
		opts  sandboxtest.GitOptions
		code  sandboxclient.Code
		words string
	}{
		"private":   {sandboxtest.GitOptions{User: "ada", Password: "secret"}, sandboxclient.CodeForbidden, "does not exist, or needs credentials"},
		"forbidden": {sandboxtest.GitOptions{Status: 403}, sandboxclient.CodeForbidden, "is refused"},
		"gone":      {sandboxtest.GitOptions{Status: 410}, sandboxclient.CodeNotFound, "There is no repository"},
		"busy":      {sandboxtest.GitOptions{Status: 503}, sandboxclient.CodeBadGateway, "returned error: 503"},
		"garbage":   {sandboxtest.GitOptions{Garbage: true}, sandboxclient.CodeBadGateway, "bad line length"},
		"slow":      {sandboxtest.GitOptions{Slow: true}, sandboxclient.CodeTimeout, "too slowly"},
		"silent":    {sandboxtest.GitOptions{Silent: true}, sandboxclient.CodeTimeout, "too slowly"},
		"nowhere":   {sandboxtest.GitOptions{Redirect: "http://127.0.0.1:1"}, sandboxclient.CodeBadGateway, "onnect to"},
		"circle":    {sandboxtest.GitOptions{Redirect: server.URL}, sandboxclient.CodeBadGateway, "redirects followed"},
		"to a file": {sandboxtest.GitOptions{Redirect: "file:///etc/passwd?"}, sandboxclient.CodeForbidden, "not allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			repo := server.AddRepository(name, text("a", "1"), c.opts)
			url := strings.ReplaceAll(repo.URL, " ", "%20")
			got := onHost(t, sandboxclient.Checkout{Repository: url, LowSpeed: time.Second})
			got.wantError(t, c.code, c.words)
		})
	}
	byCommit := sandboxclient.Checkout{Repository: server.URL + "/private", Ref: strings.Repeat("ab", 20)}
	onHost(t, byCommit).wantError(t, sandboxclient.CodeForbidden, "needs credentials")
	none := sandboxclient.Checkout{Repository: server.URL + "/none.git"}
	onHost(t, none).wantError(t, sandboxclient.CodeNotFound, "There is no repository at "+none.Repository)
	unreachable := sandboxclient.Checkout{Repository: "https://127.0.0.1:1/p"}
	onHost(t, unreachable).wantError(t, sandboxclient.CodeBadGateway, "onnect to 127.0.0.1 port 1")
	notTLS := sandboxclient.Checkout{Repository: strings.Replace(server.URL, "http", "https", 1) + "/p"}
	onHost(t, notTLS).wantError(t, sandboxclient.CodeBadGateway, "TLS")
}

func TestCheckoutScript_withoutItsPrograms(t *testing.T) {
	repo := sandboxtest.ServeGit(t).AddRepository("p", text("a", "1"), well())
	bin := t.TempDir()
	for _, name := range []string{"find", "head"} {
		if err := os.Symlink("/usr/bin/"+name, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	got := onHost(t, sandboxclient.Checkout{Repository: repo.URL}, "PATH="+bin)
	got.wantError(t, sandboxclient.CodeUnsupported, "no git in the sandbox")

	// A git that knows no lfs.
	script := "#!/bin/sh\n[ \"$1\" = lfs ] && exit 1\nexec /usr/bin/git \"$@\"\n"
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	got = onHost(t, sandboxclient.Checkout{Repository: repo.URL, LFS: true}, "PATH="+bin)
	got.wantError(t, sandboxclient.CodeUnsupported, "no git-lfs in the sandbox")
}

func TestCheckoutScript_redirects(t *testing.T) {
	server, elsewhere := sandboxtest.ServeGit(t), sandboxtest.ServeGit(t)
	repo := elsewhere.AddRepository("team/p", text("a", "1"), well())
	moved := server.AddRepository("team/p", nil, sandboxtest.GitOptions{Redirect: elsewhere.URL})
	onHost(t, sandboxclient.Checkout{Repository: moved.URL}).want(t, repo.Commit, "main")
}

func TestCheckoutScript_links(t *testing.T) {
	repo := sandboxtest.ServeGit(t).AddRepository("p", fstest.MapFS{
		"out":  {Data: []byte("/etc/passwd"), Mode: fs.ModeSymlink},
		"loop": {Data: []byte("loop"), Mode: fs.ModeSymlink},
	}, well())
	got := onHost(t, sandboxclient.Checkout{Repository: repo.URL})
	got.want(t, repo.Commit, "main")
	if target, err := os.Readlink(filepath.Join(got.Dir, "out")); target != "/etc/passwd" || err != nil {
		t.Errorf("the link leads to %q, %v", target, err)
	}
}
