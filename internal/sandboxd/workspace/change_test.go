package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"sandgate/sandboxclient/wire"
)

func TestMkdir(t *testing.T) {
	w, inside := open(t)
	put(t, w, "file", "x")
	must(t, os.Symlink("made", filepath.Join(inside, "link")))
	must(t, os.Symlink("/etc", filepath.Join(inside, "out")))
	for _, name := range []string{"made", "made/", "made/a/b", "link/c", "."} {
		info, err := w.Mkdir(name)
		if err != nil || info.Type != wire.TypeDirectory {
			t.Errorf("%s: %+v, %v", name, info, err)
		}
	}
	wantNames(t, filepath.Join(inside, "made"), "a", "c")
	for name, code := range map[string]string{
		"file": wire.CodeConflict, "file/a": wire.CodeConflict,
		"out/a": wire.CodeInvalid, "../a": wire.CodeInvalid, "": wire.CodeInvalid,
		".sandgate-a": wire.CodeInvalid,
	} {
		_, err := w.Mkdir(name)
		wantCode(t, err, code)
	}
}

func TestMkdir_ofOneByManyAtOnce(t *testing.T) {
	w, inside := open(t)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			if _, err := w.Mkdir("a/b/c/d"); err != nil {
				t.Error(err)
			}
			put(t, w, fmt.Sprintf("a/b/c/d/%02d", i), "x")
		})
	}
	wg.Wait()
	wantNames(t, inside, "a")
	entries, err := os.ReadDir(filepath.Join(inside, "a/b/c/d"))
	if err != nil || len(entries) != 16 {
		t.Errorf("%d files, %v", len(entries), err)
	}
}

func TestRemove(t *testing.T) {
	w, inside := open(t)
	outside := filepath.Join(filepath.Dir(inside), "outside")
	must(t, os.WriteFile(outside, nil, 0o644))
	put(t, w, "tree/a/b", "x")
	put(t, w, "tree/c", "x")
	put(t, w, "file", "x")
	must(t, os.Mkdir(filepath.Join(inside, "empty"), 0o000))
	must(t, os.Symlink("tree", filepath.Join(inside, "link")))
	must(t, os.Symlink(outside, filepath.Join(inside, "out")))
	must(t, syscall.Mkfifo(filepath.Join(inside, "fifo"), 0o600))
	must(t, os.Symlink("..", filepath.Join(inside, "tree", "up")))

	wantCode(t, w.Remove(t.Context(), "tree", false), wire.CodeConflict)
	wantCode(t, w.Remove(t.Context(), ".", true), wire.CodeConflict)
	wantCode(t, w.Remove(t.Context(), "nothing", false), wire.CodeNotFound)
	wantCode(t, w.Remove(t.Context(), "nothing", true), wire.CodeNotFound)
	wantCode(t, w.Remove(t.Context(), "nothing/at/all", true), wire.CodeNotFound)
	wantCode(t, w.Remove(t.Context(), "file/below", true), wire.CodeConflict)
	wantCode(t, w.Remove(t.Context(), "fifo/below", true), wire.CodeConflict)
	wantCode(t, w.Remove(t.Context(), "../outside", true), wire.CodeInvalid)
	for _, name := range []string{"link", "out", "fifo", "file", "empty"} {
		must(t, w.Remove(t.Context(), name, false))
	}
	wantNames(t, inside, "tree")
	must(t, w.Remove(t.Context(), "tree", true))
	wantNames(t, inside)
	if _, err := os.Stat(outside); err != nil {
		t.Error("a link's target is gone")
	}
}

func TestRemove_ofADeepAndWideTree(t *testing.T) {
	w, inside := open(t)
	outside := filepath.Join(filepath.Dir(inside), "outside")
	must(t, os.MkdirAll(filepath.Join(outside, "sub"), 0o755))
	deep := "tree"
	for i := range 5*maxHeld + 7 {
		deep += "/d"
		if i%50 == 0 {
			put(t, w, deep+"/file", "x")
			must(t, os.Symlink(outside, filepath.Join(inside, deep, "link")))
		}
	}
	_, err := w.Mkdir(deep)
	must(t, err)
	must(t, os.Mkdir(filepath.Join(inside, "tree/wide"), 0o755))
	for i := range 2*entriesAtOnce + 3 {
		must(t, os.WriteFile(filepath.Join(inside, "tree/wide", fmt.Sprint(i)), nil, 0o000))
	}
	before := openFiles(t)
	must(t, w.Remove(t.Context(), "tree", true))
	wantNames(t, inside)
	wantNames(t, outside, "sub")
	if after := openFiles(t); after != before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	return len(fds)
}

// A directory that is being removed turns into a link and back.
func TestRemove_neverFollowsALinkInARace(t *testing.T) {
	w, inside := open(t)
	outside := filepath.Join(filepath.Dir(inside), "outside")
	must(t, os.MkdirAll(outside, 0o755))
	must(t, os.WriteFile(filepath.Join(outside, "theirs"), nil, 0o644))
	dir, link := filepath.Join(inside, "tree/dir"), filepath.Join(inside, "link")
	must(t, os.Symlink(outside, link))
	stop := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				_ = unix.Renameat2(unix.AT_FDCWD, dir, unix.AT_FDCWD, link, unix.RENAME_EXCHANGE)
			}
		}
	})
	for range 500 {
		_, _ = w.Mkdir("tree/dir/sub")
		_ = w.Remove(t.Context(), "tree", true)
		if _, err := os.Lstat(link); err != nil {
			must(t, os.Symlink(outside, link))
		}
	}
	close(stop)
	swapper.Wait()
	wantNames(t, outside, "theirs")
}

func TestRemove_endsWithItsContext(t *testing.T) {
	w, inside := open(t)
	put(t, w, "tree/a/b", "x")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Remove(ctx, "tree", true); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	wantNames(t, inside, "tree")
}

func TestRename(t *testing.T) {
	w, inside := open(t)
	reset := func() {
		must(t, os.RemoveAll(inside))
		must(t, os.Mkdir(inside, 0o755))
		w = openAt(t, inside)
		put(t, w, "file", "one")
		put(t, w, "other", "two")
		put(t, w, "dir/sub/f", "x")
		put(t, w, "full/f", "x")
		must(t, os.Mkdir(filepath.Join(inside, "empty"), 0o755))
		must(t, os.Symlink("file", filepath.Join(inside, "link")))
		must(t, os.Symlink("/etc", filepath.Join(inside, "out")))
	}
	tests := []struct {
		from, to string
		replace  bool
		code     string
	}{
		{"file", "new", false, ""},
		{"file", "dir/sub/new", false, ""},
		{"dir", "moved", false, ""},
		{"link", "moved", false, ""},
		{"file", "other", true, ""},
		{"file", "link", true, ""},
		{"dir", "empty", true, ""},
		{"file", "file", true, ""},
		{"file", "other", false, wire.CodeConflict},
		{"file", "link", false, wire.CodeConflict},
		{"file", "file", false, wire.CodeConflict},
		{"file", "empty", true, wire.CodeConflict},
		{"dir", "file", true, wire.CodeConflict},
		{"dir", "full", true, wire.CodeConflict},
		{"dir", "dir/sub/dir", false, wire.CodeInvalid},
		{"dir", "dir/sub/dir", true, wire.CodeInvalid},
		{"nothing", "new", false, wire.CodeNotFound},
		{"file", "no/such/dir", false, wire.CodeNotFound},
		{"file", "other/new", false, wire.CodeConflict},
		{".", "new", false, wire.CodeConflict},
		{"file", ".", true, wire.CodeConflict},
		{"file", "../new", false, wire.CodeInvalid},
		{"../workspace/file", "new", false, wire.CodeInvalid},
		{"file", "out/new", false, wire.CodeInvalid},
		{"out/passwd", "new", false, wire.CodeInvalid},
		{"file", ".sandgate-x", false, wire.CodeInvalid},
		{".sandgate-x", "new", false, wire.CodeInvalid},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%s to %s %v", tt.from, strings.ReplaceAll(tt.to, "/", "_"), tt.replace), func(t *testing.T) {
			reset()
			info, err := w.Rename(tt.from, tt.to, tt.replace)
			if tt.code != "" {
				wantCode(t, err, tt.code)
				return
			}
			must(t, err)
			if info.Name != filepath.Base(tt.to) {
				t.Errorf("told as %+v", info)
			}
			if _, err := w.Stat(tt.from); tt.from != tt.to && err == nil {
				t.Error("it is still there")
			}
		})
	}
}

func TestSweep_removesOnlyWhatEarlierOnesLeft(t *testing.T) {
	inside := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(inside, "a/b"), 0o755))
	for _, name := range []string{".sandgate-old", "a/b/.sandgate-old", "a/keep", "a/x.sandgate-y"} {
		must(t, os.WriteFile(filepath.Join(inside, name), nil, 0o600))
	}
	must(t, os.MkdirAll(filepath.Join(inside, "a/.sandgate-dir/below"), 0o700))
	must(t, os.Symlink("/", filepath.Join(inside, "a/link")))
	deep := filepath.Join(inside, strings.Repeat("d/", maxHeld+10))
	must(t, os.MkdirAll(deep, 0o755))

	w := openAt(t, inside)
	own := filepath.Join(inside, w.temporary())
	must(t, os.WriteFile(own, nil, 0o600))
	w.sweep(t.Context(), w.root)
	must(t, os.Remove(own))
	wantNames(t, filepath.Join(inside, "a"), "b", "keep", "link", "x.sandgate-y")
	wantNames(t, filepath.Join(inside, "a/b"))
	wantNames(t, inside, "a", "d")
}
