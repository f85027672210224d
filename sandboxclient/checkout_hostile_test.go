package sandboxclient_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sandgate/internal/sandboxtest"
	"sandgate/sandboxclient"
)

// A repository can carry hooks and settings, but not where git looks for them.
func TestHostile_programsInTheTree(t *testing.T) {
	bait := filepath.Join(t.TempDir(), "bait")
	script := "#!/bin/sh\ntouch " + bait + "\n"
	files := text(
		"hooks/post-checkout", script, "post-checkout", script, ".githooks/post-checkout", script,
		".gitconfig", "[core]\n\thooksPath = .githooks\n\tfsmonitor = ./post-checkout\n",
		"config", "[core]\n\tfsmonitor = ./post-checkout\n",
		".lfsconfig", "[lfs]\n\turl = file:///etc\n",
		".gitattributes", "* filter=evil diff=evil merge=evil ident export-subst\n*.y filter=lfs\n",
		"git", script, "a.x", "text", "a.y", "text", "HEAD", "ref: refs/heads/main", "objects/x", "", "refs/x", "",
	)
	for _, f := range files {
		f.Mode = 0o755
	}
	repo := sandboxtest.ServeGit(t).AddRepository("p", files, well())
	got := onHost(t, sandboxclient.Checkout{Repository: repo.URL})
	got.want(t, repo.Commit, "main")
	got.has(t, "hooks/post-checkout", script)
	got.hasNot(t, ".git/hooks/post-checkout")
	if exists(bait) {
		t.Error("it ran a program")
	}
	if len(got.Warnings) != 0 {
		t.Errorf("warned of %v", got.Warnings)
	}
}

// Names that a program could take for something else.
func TestHostile_names(t *testing.T) {
	names := []string{
		"--upload-pack=x", "-rf", "--", "-", "$(touch x)", "`id`", "a\nwarning lfs_pointers b\ncommit c", "a\x1b[31m", "a\xff\xfe",
		"a\tb", "a'b", `a"b`, `a\b`, " ", "...", "con", "warning x y",
	}
	repo := sandboxtest.ServeGit(t).AddRepository("p", nil, well())
	blob := repo.GitInput("content", "hash-object", "-w", "--stdin")
	var tree strings.Builder
	for _, name := range names {
		tree.WriteString("100644 blob " + blob + "\t" + name + "\x00")
	}
	lfs := repo.GitInput("* filter=lfs\n", "hash-object", "-w", "--stdin")
	tree.WriteString("100644 blob " + lfs + "\t.gitattributes\x00")
	commit := repo.AddTree("main", repo.GitInput(tree.String(), "mktree", "-z"))

	got := onHost(t, sandboxclient.Checkout{Repository: repo.URL})
	got.want(t, commit, "main")
	for _, name := range names {
		got.has(t, name, "content")
	}
	if got.stdout != "begun\ncommit "+commit+"\nbranch main\n" {
		t.Errorf("stdout is %q", got.stdout)
	}
}

// What no tree may hold makes the checkout fail, and leaves nothing outside.
func TestHostile_trees(t *testing.T) {
	for _, name := range []string{".git", ".GIT", "..", ".", "GIT~1", ".git "} {
		t.Run(name, func(t *testing.T) {
			repo := sandboxtest.ServeGit(t).AddRepository("p", nil, well())
			blob := repo.GitInput("content", "hash-object", "-w", "--stdin")
			inner := repo.GitInput("100644 blob "+blob+"\tescaped\n", "mktree")
			repo.AddTree("main", hostileTree(t, repo, name, inner))
			dir := filepath.Join(t.TempDir(), "in", "app")
			got := onHostTo(t, dir, sandboxclient.Checkout{Repository: repo.URL})
			got.wantError(t, sandboxclient.CodeBadGateway, "")
			for _, place := range []string{".", "..", "../.."} {
				if exists(filepath.Join(dir, place, "escaped")) {
					t.Errorf("it wrote to %s", place)
				}
			}
		})
	}
}

// hostileTree makes a tree with one entry, which git itself would not make.
func hostileTree(t *testing.T, repo *sandboxtest.GitRepository, name, tree string) string {
	t.Helper()
	var raw []byte
	for i := 0; i < len(tree); i += 2 {
		raw = append(raw, unhex(tree[i])<<4|unhex(tree[i+1]))
	}
	return repo.GitInput("40000 "+name+"\x00"+string(raw), "hash-object", "-w", "-t", "tree", "--literally", "--stdin")
}

func unhex(c byte) byte { return byte(strings.IndexByte("0123456789abcdef", c)) }

// A link and, by the same name, a directory with a file behind it.
func TestHostile_fileBehindALink(t *testing.T) {
	outside := t.TempDir()
	repo := sandboxtest.ServeGit(t).AddRepository("p", nil, well())
	blob := repo.GitInput("content", "hash-object", "-w", "--stdin")
	link := repo.GitInput(outside, "hash-object", "-w", "--stdin")
	inner := repo.GitInput("100644 blob "+blob+"\tescaped\n", "mktree")
	repo.AddTree("main", repo.GitInput("120000 blob "+link+"\ta\n040000 tree "+inner+"\ta\n", "mktree"))
	onHost(t, sandboxclient.Checkout{Repository: repo.URL})
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 0 {
		t.Errorf("it wrote %v, %v", entries, err)
	}
}

// The server says what the default branch is called.
func TestHostile_branchNames(t *testing.T) {
	repo := sandboxtest.ServeGit(t).AddRepository("p", text("a", "1"), well())
	for branch, told := range map[string]string{
		"$(touch)": "$(touch)", "warning": "warning", "\xff\xfe": "", "-x": "", "--upload-pack=x": "",
	} {
		repo.Git("update-ref", "refs/heads/"+branch, repo.Commit)
		repo.Git("symbolic-ref", "HEAD", "refs/heads/"+branch)
		onHost(t, sandboxclient.Checkout{Repository: repo.URL}).want(t, repo.Commit, told)
	}
}
