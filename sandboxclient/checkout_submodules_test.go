package sandboxclient_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sandgate/internal/sandboxtest"
	"sandgate/sandboxclient"
)

// addSubmodule puts a commit on main that has a submodule; it asks for the tip
// of main if the server has a repository of that name.
func addSubmodule(t *testing.T, repo *sandboxtest.GitRepository, name, url string) string {
	t.Helper()
	commit := repo.Commit
	if sub := filepath.Join(filepath.Dir(repo.Dir), name); exists(sub) {
		inner := *repo
		inner.Dir = sub
		commit = inner.Git("rev-parse", "main")
	}
	modules := fmt.Sprintf("[submodule %q]\n\tpath = %s\n\turl = %s\n", name, name, url)
	return addModules(t, repo, modules, "160000 commit "+commit+"\t"+name)
}

// addModules puts a commit on main with .gitmodules and further entries of a
// tree, which no file system has to hold.
func addModules(t *testing.T, repo *sandboxtest.GitRepository, modules string, entries ...string) string {
	t.Helper()
	blob := repo.GitInput(modules, "hash-object", "-w", "--stdin")
	lines := repo.Git("ls-tree", "main") + "\n100644 blob " + blob + "\t.gitmodules\n" + strings.Join(entries, "\n") + "\n"
	return repo.AddTree("main", repo.GitInput(lines, "mktree", "--missing"))
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

func TestSubmodules_whenAskedFor(t *testing.T) {
	server := sandboxtest.ServeGit(t)
	innermost := server.AddRepository("innermost", text("c", "3"), well())
	innermost.AddCommit("main", text("c", "4"))
	inner := server.AddRepository("inner", text("b", "2"), well())
	addSubmodule(t, inner, "innermost", server.URL+"/innermost")
	outer := server.AddRepository("outer", text("a", "1"), well())
	commit := addSubmodule(t, outer, "inner", "../inner")

	for _, depth := range []int{0, 1} {
		got := onHost(t, sandboxclient.Checkout{Repository: outer.URL, Submodules: true, Depth: depth})
		got.want(t, commit, "main")
		got.has(t, "inner/b", "2")
		got.has(t, "inner/innermost/c", "4")
		if len(got.Warnings) != 0 {
			t.Errorf("warned of %v", got.Warnings)
		}
	}

	without := onHost(t, sandboxclient.Checkout{Repository: outer.URL})
	without.want(t, commit, "main")
	without.hasNot(t, "inner/b")
	if len(without.Warnings) != 1 || without.Warnings[0].Code != sandboxclient.WarningSubmodulesLeftOut {
		t.Errorf("warned of %v", without.Warnings)
	}
}

// The commit of a submodule need not be at a tip.
func TestSubmodules_ofAnOlderCommit(t *testing.T) {
	server := sandboxtest.ServeGit(t)
	inner := server.AddRepository("inner", text("b", "2"), well())
	outer := server.AddRepository("outer", text("a", "1"), well())
	commit := addSubmodule(t, outer, "inner", "../inner")
	inner.AddCommit("main", text("b", "newer"))
	got := onHost(t, sandboxclient.Checkout{Repository: outer.URL, Submodules: true, Depth: 1})
	got.want(t, commit, "main")
	got.has(t, "inner/b", "2")
}

func TestSubmodules_thatAreNotThere(t *testing.T) {
	server := sandboxtest.ServeGit(t)
	outer := server.AddRepository("outer", text("a", "1"), well())
	addSubmodule(t, outer, "inner", "../inner")
	got := onHost(t, sandboxclient.Checkout{Repository: outer.URL, Submodules: true})
	got.wantError(t, sandboxclient.CodeNotFound, "A submodule could not be fetched")
}

// Each of these would run a program or read the sandbox's own files if git were
// asked nicely. Its twin, a submodule like any other, is in the tests above.
func TestSubmodules_hostile(t *testing.T) {
	bait := filepath.Join(t.TempDir(), "bait")
	local := sandboxtest.ServeGit(t).AddRepository("local", text("b", "2"), well())
	for name, url := range map[string]string{
		"file":      "file://" + local.Dir,
		"path":      local.Dir,
		"ext":       "ext::touch " + bait,
		"EXT":       "EXT::touch " + bait,
		"fd":        "fd::0",
		"option":    "--upload-pack=touch " + bait,
		"dash":      "-u./payload",
		"ssh":       "ssh://-oProxyCommand=touch${IFS}" + bait + "/x",
		"scp":       "git@127.0.0.1:x",
		"git":       "git://127.0.0.1:1/x",
		"ftp":       "ftp://127.0.0.1:1/x",
		"newline":   "https://127.0.0.1:1/%0ahost=example.org/x",
		"up":        "../../../../../../../../" + local.Dir,
		"own trick": "http://127.0.0.1:1/x\"; touch " + bait + "; \"",
	} {
		t.Run(name, func(t *testing.T) {
			outer := sandboxtest.ServeGit(t).AddRepository("outer", text("a", "1"), well())
			addSubmodule(t, outer, "sub", url)
			got := onHost(t, sandboxclient.Checkout{Repository: outer.URL, Submodules: true})
			if got.err == nil || !strings.Contains(got.err.Error(), "A submodule could not be fetched") {
				t.Errorf("got %v", got.err)
			}
			if exists(bait) {
				t.Error("it ran a program")
			}
		})
	}
}

func TestSubmodules_hostileUpdateAndNames(t *testing.T) {
	bait := filepath.Join(t.TempDir(), "bait")
	for name, modules := range map[string]string{
		"update":   "[submodule \"sub\"]\n\tpath = sub\n\turl = ../sub\n\tupdate = !touch " + bait + "\n",
		"dotdot":   "[submodule \"../../hooks\"]\n\tpath = sub\n\turl = ../sub\n",
		"path out": "[submodule \"sub\"]\n\tpath = ../../out\n\turl = ../sub\n",
		"git path": "[submodule \"sub\"]\n\tpath = .git/hooks\n\turl = ../sub\n",
		"carriage": "[submodule \"sub\"]\n\tpath = \"sub\r\"\n\turl = ../sub\n",
		"sections": "[core]\n\tfsmonitor = touch " + bait + "\n\tsshCommand = touch " + bait + "\n[submodule \"sub\"]\n\tpath = sub\n\turl = ../sub\n",
	} {
		t.Run(name, func(t *testing.T) {
			server := sandboxtest.ServeGit(t)
			sub := server.AddRepository("sub", text("post-checkout", "#!/bin/sh\ntouch "+bait+"\n"), well())
			outer := server.AddRepository("outer", text("a", "1"), well())
			addModules(t, outer, modules, "160000 commit "+sub.Commit+"\tsub")
			got := onHost(t, sandboxclient.Checkout{Repository: outer.URL, Submodules: true})
			if exists(bait) {
				t.Error("it ran a program")
			}
			if exists(filepath.Join(got.Dir, "..", "..", "out")) || exists(filepath.Join(got.Dir, ".git", "hooks", "post-checkout")) {
				t.Error("it wrote where it should not")
			}
		})
	}
}

// CVE-2024-32002: a submodule within what a case-insensitive disk takes for a
// link into .git; CVE-2021-21300 is alike.
func TestSubmodules_behindALink(t *testing.T) {
	bait := filepath.Join(t.TempDir(), "bait")
	server := sandboxtest.ServeGit(t)
	hook := server.AddRepository("hook", nil, well())
	blob := hook.GitInput("#!/bin/sh\ntouch "+bait+"\n", "hash-object", "-w", "--stdin")
	inner := hook.GitInput("100755 blob "+blob+"\tpost-checkout\n", "mktree")
	hookCommit := hook.AddTree("main", hook.GitInput("040000 tree "+inner+"\thooks\n", "mktree"))

	outer := server.AddRepository("outer", text("z", "1"), well())
	link := outer.GitInput(".git", "hash-object", "-w", "--stdin")
	dir := outer.GitInput("160000 commit "+hookCommit+"\tx\n", "mktree", "--missing")
	modules := "[submodule \"x/y\"]\n\tpath = A/x\n\turl = ../hook\n"
	for _, name := range []string{"a", "A"} {
		entries := []string{"120000 blob " + link + "\ta", "040000 tree " + dir + "\tA"}
		if name == "A" { // the same name twice, which only a hostile tree has
			entries = []string{"120000 blob " + link + "\tA", "040000 tree " + dir + "\tA"}
		}
		addModules(t, outer, modules, entries...)
		got := onHost(t, sandboxclient.Checkout{Repository: outer.URL, Submodules: true})
		if exists(bait) || exists(filepath.Join(got.Dir, ".git", "hooks", "post-checkout")) {
			t.Errorf("%s: it got into .git", name)
		}
	}
}
