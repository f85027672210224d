package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// hostileTree makes what a sandbox could leave, and gives a file outside that
// must survive.
func hostileTree(t *testing.T) (tree, outside string) {
	t.Helper()
	parent := t.TempDir()
	tree, outside = filepath.Join(parent, "workspace"), filepath.Join(parent, "outside")
	for _, err := range []error{
		os.MkdirAll(filepath.Join(outside, "dir"), 0o755),
		os.WriteFile(filepath.Join(outside, "file"), nil, 0o644),
		os.MkdirAll(filepath.Join(tree, "a/b/c"), 0o755),
		os.WriteFile(filepath.Join(tree, "a/b/-rf"), nil, 0o000),
		os.WriteFile(filepath.Join(tree, "new\nline"), nil, 0o400),
		os.Symlink(outside, filepath.Join(tree, "a/link")),
		os.Symlink(filepath.Join(outside, "file"), filepath.Join(tree, "link")),
		os.Symlink("link", filepath.Join(tree, "a/b/dangling")),
		unix.Mkfifo(filepath.Join(tree, "fifo"), 0o000),
		os.Chmod(filepath.Join(tree, "a/b/c"), 0o000),
		os.Chmod(filepath.Join(tree, "a"), 0o000),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return tree, filepath.Join(outside, "file")
}

func TestRemoveTree_hostile(t *testing.T) {
	needRoot(t)
	tree, outside := hostileTree(t)
	if err := removeTree(t.Context(), tree); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(tree); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the tree is still there: %v", err)
	}
	if _, err := os.Stat(outside); err != nil {
		t.Errorf("a link was followed: %v", err)
	}
}

func TestRemoveTree_missing(t *testing.T) {
	if err := removeTree(t.Context(), filepath.Join(t.TempDir(), "none")); err != nil {
		t.Error(err)
	}
}

func TestRemoveTree_isNoLink(t *testing.T) {
	target := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if err := removeTree(t.Context(), link); err == nil {
		t.Error("a link was taken for the tree")
	}
	if _, err := os.Stat(target); err != nil {
		t.Error(err)
	}
}

// TestRemoveTree_deep makes a tree deeper than one descent goes.
func TestRemoveTree_deep(t *testing.T) {
	tree := filepath.Join(t.TempDir(), "workspace")
	if err := os.Mkdir(tree, 0o755); err != nil {
		t.Fatal(err)
	}
	at, err := openDir(unix.AT_FDCWD, tree)
	if err != nil {
		t.Fatal(err)
	}
	for range 5 * maxDepth {
		if err := unix.Mkdirat(int(at.Fd()), "d", 0o755); err != nil {
			t.Fatal(err)
		}
		next, err := openDir(int(at.Fd()), "d")
		if err != nil {
			t.Fatal(err)
		}
		_ = at.Close()
		at = next
	}
	_ = at.Close()
	if err := removeTree(t.Context(), tree); err != nil {
		t.Fatal(err)
	}
}

func TestRemoveTree_canceledAndResumed(t *testing.T) {
	tree := filepath.Join(t.TempDir(), "workspace")
	if err := os.Mkdir(tree, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range removeBatch + 1 { // more than one batch
		if err := os.WriteFile(filepath.Join(tree, fmt.Sprint(i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := removeTree(ctx, tree); !errors.Is(err, context.Canceled) {
		t.Errorf("remove: %v, want the context's error", err)
	}
	if err := removeTree(t.Context(), tree); err != nil {
		t.Error(err)
	}
}

func TestMakeWorkspace(t *testing.T) {
	needRoot(t)
	dir := filepath.Join(t.TempDir(), "workspace")
	for range 2 { // the second finds it and keeps what is in it
		if err := makeWorkspace(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "kept"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var stat unix.Stat_t
	if err := unix.Stat(dir, &stat); err != nil || stat.Uid != sandboxUID || stat.Gid != sandboxGID {
		t.Errorf("workspace belongs to %d:%d, %v", stat.Uid, stat.Gid, err)
	}
}
