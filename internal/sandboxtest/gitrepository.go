package sandboxtest

import (
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A GitRepository is one that a GitServer serves.
type GitRepository struct {
	URL    string
	Commit string // at the tip of main; empty when it began without files
	Dir    string // the bare repository

	t testing.TB
}

// AddCommit puts files, as the whole tree, on top of a branch, which is made
// when it is not there, and gives the commit. A symbolic link of fs.ReadLinkFS
// becomes one of the repository.
func (r *GitRepository) AddCommit(branch string, files fs.FS) string {
	r.t.Helper()
	tree := r.t.TempDir()
	if err := os.CopyFS(tree, files); err != nil {
		r.t.Fatal(err)
	}
	r.Git("--work-tree="+tree, "add", "--all", "--force", ".")
	return r.AddTree(branch, r.Git("write-tree"))
}

// AddTree puts a tree that is in the repository already on top of a branch, for
// what no file system would hold, and gives the commit.
func (r *GitRepository) AddTree(branch, tree string) string {
	r.t.Helper()
	args := []string{"commit-tree", "-m", "A commit", tree}
	ref := "refs/heads/" + branch
	if parent := r.Git("for-each-ref", "--format=%(objectname)", ref); parent != "" {
		args = append(args, "-p", parent)
	}
	commit := r.Git(args...)
	r.Git("update-ref", ref, commit)
	return commit
}

// Git runs git on the bare repository and gives what it prints, without the
// newline at the end.
func (r *GitRepository) Git(args ...string) string {
	r.t.Helper()
	return r.GitInput("", args...)
}

// GitInput is Git with something to read.
func (r *GitRepository) GitInput(input string, args ...string) string {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), "git", append([]string{"--git-dir=" + r.Dir}, args...)...)
	cmd.Dir = r.Dir
	cmd.Env = append(os.Environ(), gitEnvironment()...)
	cmd.Stdin = strings.NewReader(input)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return strings.TrimSuffix(string(out), "\n")
}

// gitEnvironment makes git the same on every machine, and commits as well.
func gitEnvironment() []string {
	const date = "2024-02-29T12:00:00Z"
	return []string{
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "LC_ALL=C",
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.org", "GIT_AUTHOR_DATE=" + date,
		"GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.org", "GIT_COMMITTER_DATE=" + date,
	}
}
