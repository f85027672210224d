package sandboxtest

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

func TestGitServer_servesWhatWasAdded(t *testing.T) {
	server := ServeGit(t)
	repo := server.AddRepository("team/project.git", fstest.MapFS{
		"src/run.sh": {Data: []byte("#!/bin/sh\necho hi\n"), Mode: 0o755},
		"link":       {Data: []byte("src/run.sh"), Mode: fs.ModeSymlink},
	}, GitOptions{})
	next := repo.AddCommit("main", fstest.MapFS{"only": {Data: []byte("this")}})

	dir := filepath.Join(t.TempDir(), "clone")
	clone(t, repo.URL, dir)
	if got := inDir(t, dir, "git", "log", "--format=%H"); got != next+"\n"+repo.Commit {
		t.Errorf("the log is %q, want %s on %s", got, next, repo.Commit)
	}
	inDir(t, dir, "git", "checkout", "--quiet", repo.Commit)
	if got := inDir(t, dir, "./link"); got != "hi" {
		t.Errorf("the file says %q", got)
	}
	if len(server.Requests()) == 0 {
		t.Error("no request was seen")
	}
}

func TestGitServer_commitsAreTheSameEverywhere(t *testing.T) {
	files := fstest.MapFS{"a": {Data: []byte("b"), Mode: 0o644}}
	server := ServeGit(t)
	one := server.AddRepository("one", files, GitOptions{})
	two := server.AddRepository("two", files, GitOptions{})
	if one.Commit != two.Commit {
		t.Errorf("%s and %s", one.Commit, two.Commit)
	}
}

func TestGitServer_refuses(t *testing.T) {
	server := ServeGit(t)
	files := fstest.MapFS{"a": {Data: []byte("b")}}
	private := server.AddRepository("private", files, GitOptions{User: "ada", Password: "secret"})
	for name, opts := range map[string]GitOptions{
		"busy":    {Status: 503},
		"garbage": {Garbage: true},
		"slow":    {Slow: true},
		"silent":  {Silent: true},
		"away":    {Redirect: "http://127.0.0.1:1"},
	} {
		server.AddRepository(name, files, opts)
	}
	for _, name := range []string{"nothing", "private", "busy", "garbage", "slow", "silent", "away"} {
		dir := filepath.Join(t.TempDir(), "clone")
		if out, err := tryClone(t, server.URL+"/"+name, dir).CombinedOutput(); err == nil {
			t.Errorf("%s can be cloned: %s", name, out)
		}
	}
	clone(t, strings.Replace(private.URL, "://", "://ada:secret@", 1), filepath.Join(t.TempDir(), "clone"))
}

func clone(t *testing.T, url, dir string) {
	t.Helper()
	if out, err := tryClone(t, url, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

func tryClone(t *testing.T, url, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", "-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=1", "clone", url, dir)
	cmd.Env = append(os.Environ(), append(gitEnvironment(), "GIT_TERMINAL_PROMPT=0", "no_proxy=127.0.0.1")...)
	return cmd
}

func inDir(t *testing.T, dir string, argv ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", argv, err)
	}
	return strings.TrimSpace(string(out))
}
