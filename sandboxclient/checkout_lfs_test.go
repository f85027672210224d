package sandboxclient_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"sandgate/internal/sandboxtest"
	"sandgate/sandboxclient"
)

// pointer is what Git LFS keeps in a repository in place of a file.
func pointer(size int) string {
	return fmt.Sprintf("version https://git-lfs.github.com/spec/v1\noid sha256:%064x\nsize %d\n", size, size)
}

func TestLFS_pointersLeftBehindAreTold(t *testing.T) {
	for name, c := range map[string]struct {
		files fstest.MapFS
		want  string // how many; none is told when empty
	}{
		"none": {text("a", "1", ".gitattributes", "*.txt text\n"), ""},
		"two": {text(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n",
			"a.bin", pointer(1), "deep/er/b.bin", pointer(2), "c.txt", pointer(3), "whole.bin", strings.Repeat("x", 5000)), "2"},
		"nested":       {text("assets/.gitattributes", "* filter=lfs\n", "assets/it's \"odd\"\n-x", pointer(1)), "1"},
		"not pointers": {text(".gitattributes", "*.bin filter=lfs\n", "a.bin", "content"), ""},
		"not by LFS":   {text("a.bin", pointer(1)), ""},
		"too large":    {text(".gitattributes", "*.bin filter=lfs\n", "a.bin", pointer(1)+strings.Repeat("x", 2000)), ""},
	} {
		t.Run(name, func(t *testing.T) {
			repo := sandboxtest.ServeGit(t).AddRepository("p", c.files, well())
			got := onHost(t, sandboxclient.Checkout{Repository: repo.URL, Depth: 1})
			got.want(t, repo.Commit, "main")
			told := ""
			for _, w := range got.Warnings {
				if w.Code == sandboxclient.WarningLFSPointers {
					told = w.Message[strings.LastIndex(w.Message, " ")+1:]
				}
			}
			if told != c.want {
				t.Errorf("told %v, want %q", got.Warnings, c.want)
			}
		})
	}
}

// git-lfs itself is not on every machine: what it is asked for is what counts.
func TestLFS_isFetchedWhenAskedFor(t *testing.T) {
	server := sandboxtest.ServeGit(t)
	server.AddRepository("sub", text("b", "2"), well())
	repo := server.AddRepository("p", text(".gitattributes", "*.bin filter=lfs\n", "a.bin", pointer(1)), well())
	commit := addSubmodule(t, repo, "sub", "../sub")
	bin := t.TempDir()
	script := "#!/bin/sh\necho \"$PWD $*\" >>" + bin + "/calls\ncase $* in pull) [ ! -e a.bin ] || echo content >a.bin;; esac\n"
	if err := os.WriteFile(filepath.Join(bin, "git-lfs"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	got := onHost(t, sandboxclient.Checkout{Repository: repo.URL, LFS: true, Submodules: true}, "PATH="+bin+":/usr/bin:/bin")
	got.want(t, commit, "main")
	got.has(t, "a.bin", "content\n")
	if len(got.Warnings) != 0 {
		t.Errorf("warned of %v", got.Warnings)
	}
	calls, err := os.ReadFile(filepath.Join(bin, "calls"))
	if err != nil {
		t.Fatal(err)
	}
	want := "/ version\n"
	for _, dir := range []string{got.Dir, got.Dir + "/sub"} {
		want += dir + " install --local --skip-repo\n" + dir + " pull\n"
	}
	if string(calls) != want {
		t.Errorf("git-lfs was asked %q, want %q", calls, want)
	}
}
