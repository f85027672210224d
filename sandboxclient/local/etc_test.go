package local

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func mustMakeEtc(t *testing.T, dir string) {
	t.Helper()
	if err := makeDir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := makeEtc(dir); err != nil {
		t.Fatal(err)
	}
}

func TestMakeEtc_tellsNothingOfTheHost(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "etc")
	mustMakeEtc(t, dir)
	for _, name := range []string{"shadow", "gshadow", "machine-id", "fstab", "sudoers", "ssh", "ssl/private", "npmrc", "gitconfig"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is there", name)
		}
	}
	for _, name := range identityFiles() {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
		}
		if host, err := os.Hostname(); err == nil && host != "localhost" && strings.Contains(string(text), host) {
			t.Errorf("%s names the host", name)
		}
	}
	if len(identityFiles()) != len(syntheticEtc()) {
		t.Error("the two lists of synthetic files differ")
	}
}

func TestMakeEtc_isReadableWhateverTheUmask(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "etc")
	mustMakeEtc(t, dir)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.Type() == fs.ModeSymlink {
			return err
		}
		info, err := e.Info()
		if want := map[bool]fs.FileMode{true: 0o755, false: 0o644}[e.IsDir()]; err == nil && info.Mode().Perm() != want {
			t.Errorf("%s: mode %o, want %o", path, info.Mode().Perm(), want)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestMakeEtc_again(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "etc")
	mustMakeEtc(t, dir)
	path := func(name string) string { return filepath.Join(dir, name) }
	before, err := os.Stat(path("passwd"))
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		os.WriteFile(path("hosts"), []byte("tampered"), 0o644),
		os.WriteFile(path("stale"), nil, 0o644),
		os.MkdirAll(path("stale.d/deep"), 0o755),
		os.Remove(path("group")),
		os.MkdirAll(path("group/now/a/directory"), 0o755),
		os.RemoveAll(path("ssl")),
		os.WriteFile(path("ssl"), []byte("now a file"), 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	mustMakeEtc(t, dir)
	if after, err := os.Stat(path("passwd")); err != nil || !os.SameFile(before, after) || after.ModTime() != before.ModTime() {
		t.Errorf("what was right was touched: %v", err)
	}
	for name, want := range syntheticEtc() {
		if got, err := os.ReadFile(path(name)); string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for _, name := range []string{"stale", "stale.d"} {
		if _, err := os.Lstat(path(name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there", name)
		}
	}
}

func TestMakeRootfs(t *testing.T) {
	dir := t.TempDir()
	for range 2 { // a restarted gateway finds it
		if err := makeRootfs(dir); err != nil {
			t.Fatal(err)
		}
	}
	if target, err := os.Readlink(filepath.Join(dir, "bin")); err != nil || target != "usr/bin" {
		t.Errorf("bin leads to %q, %v", target, err)
	}
	for _, name := range mountPoints() {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o755 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
