package objects_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"sandgate/internal/objects"
	"sandgate/internal/objects/objectstest"
	"sandgate/internal/sandboxtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, dir string) *objects.Local {
	t.Helper()
	l, err := objects.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func put(t *testing.T, l *objects.Local, key, content string) {
	t.Helper()
	if _, err := l.Put(t.Context(), key, strings.NewReader(content)); err != nil {
		t.Fatal(err)
	}
}

func TestLocal(t *testing.T) {
	objectstest.Test(t, func(t *testing.T) objectstest.Store {
		return open(t, filepath.Join(t.TempDir(), "state", "objects"))
	})
}

func TestOpen_findsWhatWasPut(t *testing.T) {
	dir := t.TempDir()
	first := open(t, dir)
	put(t, first, "runs/1/log", "events")
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	stream, _, err := open(t, dir).Get(t.Context(), "runs/1/log", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if err := iotest.TestReader(stream, []byte("events")); err != nil {
		t.Error(err)
	}
}

// A gateway that was killed leaves half a file, which the next one removes, but not
// before it knows that the store is its own.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	put(t, open(t, dir), "a/b", "whole")
	half := filepath.Join(dir, ".unfinished", "half")
	if err := os.WriteFile(half, []byte("ha"), 0o600); err != nil {
		t.Fatal(err)
	}
	next := open(t, dir)
	if got, want := tree(t, dir), []string{".", ".unfinished", ".unfinished/half", "a", "a/b"}; !slices.Equal(got, want) {
		t.Errorf("opened: %q, want %q", got, want)
	}
	if err := next.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := tree(t, dir), []string{".", ".unfinished", "a", "a/b"}; !slices.Equal(got, want) {
		t.Errorf("swept: %q, want %q", got, want)
	}
	put(t, next, "a/c", "whole")
}

func TestOpen_refusesFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "objects")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := objects.Open(file); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("%v", err)
	}
}

// Nothing is left of what was put and deleted, or did not get that far.
func TestLocal_leavesNothing(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	put(t, l, "a/b/c", "x")
	if _, err := l.Put(t.Context(), "a/b/d", iotest.ErrReader(errors.New("broken"))); err == nil {
		t.Error("content that fails was put")
	}
	if err := l.Delete(t.Context(), "a/b/c"); err != nil {
		t.Fatal(err)
	}
	if got, want := tree(t, dir), []string{".", ".unfinished"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestLocal_isClosedToOthers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "objects")
	put(t, open(t, dir), "a/b", "x")
	for _, name := range tree(t, dir) {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		want := fs.FileMode(0o600)
		if info.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o", name, info.Mode().Perm(), want)
		}
	}
}

// A directory has files and folders, so that a key cannot be both.
func TestPut_refusesFolderOfOthers(t *testing.T) {
	l := open(t, t.TempDir())
	put(t, l, "a/b", "x")
	for _, key := range []string{"a", "a/b/c", "a/b/c/d"} {
		if _, err := l.Put(t.Context(), key, strings.NewReader("y")); !errors.Is(err, objects.ErrKey) {
			t.Errorf("%s: %v", key, err)
		}
	}
	put(t, l, "a/c", "y")
}

// Whatever else lies in the directory is no object, and leads nowhere.
func TestLocal_strangersInTheDirectory(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	l := open(t, dir)
	put(t, l, "a", "x")
	secret := filepath.Join(outside, "secret")
	for _, err := range []error{
		os.WriteFile(secret, []byte("secret"), 0o600),
		os.Symlink(secret, filepath.Join(dir, "link")),
		os.Symlink(outside, filepath.Join(dir, "folder")),
		unix.Mkfifo(filepath.Join(dir, "fifo"), 0o600),
		os.Mkdir(filepath.Join(dir, "lost+found"), 0o700),
		os.WriteFile(filepath.Join(dir, "no key"), nil, 0o600),
		os.Mkdir(filepath.Join(dir, "empty"), 0o700),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range []string{"link", "folder/secret", "fifo", "empty"} {
		if _, _, err := l.Get(t.Context(), key, 0); err == nil {
			t.Errorf("%s was got", key)
		}
	}
	if _, err := l.Put(t.Context(), "folder/new", strings.NewReader("x")); err == nil {
		t.Error("an object was put outside")
	}
	var keys []string
	for info, err := range l.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, info.Key)
	}
	if !slices.Equal(keys, []string{"a"}) {
		t.Errorf("%q", keys)
	}
	if got := tree(t, outside); !slices.Equal(got, []string{".", "secret"}) {
		t.Errorf("outside there is %q", got)
	}
}

// A full disk is told as what it is, costs no object, and passes.
func TestPut_fullDisk(t *testing.T) {
	dir := sandboxtest.SmallDisk(t, 1<<20)
	l := open(t, dir)
	put(t, l, "key", "what was")
	for range 3 {
		_, err := l.Put(t.Context(), "key", bytes.NewReader(make([]byte, 2<<20)))
		if !errors.Is(err, objects.ErrNoSpace) {
			t.Fatalf("%v", err)
		}
	}
	stream, info, err := l.Get(t.Context(), "key", 0)
	if err != nil || info.Size != int64(len("what was")) {
		t.Fatalf("%+v, %v", info, err)
	}
	_ = stream.Close()
	put(t, l, "key", strings.Repeat("x", 512<<10)) // nothing of the failures takes room
}

// tree names all that is in a directory.
func tree(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, _ fs.DirEntry, err error) error {
		names = append(names, name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
