package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestState_keyStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "state")
	first, err := openState(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(first.key) != keyLength || bytes.Equal(first.key, make([]byte, keyLength)) {
		t.Errorf("key %x", first.key)
	}
	for name, want := range map[string]fs.FileMode{path: fs.ModeDir | 0o700, filepath.Join(path, "key"): 0o600} {
		if info, err := os.Stat(name); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second, err := openState(path)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if !bytes.Equal(first.key, second.key) {
		t.Error("the second gateway has another key")
	}
	entries, err := os.ReadDir(path)
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestState_oneGateway(t *testing.T) {
	path := t.TempDir()
	first, err := openState(path)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	if _, err := openState(path); err == nil || !strings.Contains(err.Error(), "another gateway works on "+path) {
		t.Errorf("the second gateway: %v", err)
	}
}

// A program that is being started holds the directory open for a moment.
func TestState_closesForAll(t *testing.T) {
	path := t.TempDir()
	first, err := openState(path)
	if err != nil {
		t.Fatal(err)
	}
	started, err := unix.Dup(int(first.dir.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(started)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second, err := openState(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestState_refuses(t *testing.T) {
	open := t.TempDir()
	write(t, filepath.Join(open, "somebody's"), "file")
	if err := os.Chmod(open, 0o755); err != nil {
		t.Fatal(err)
	}
	damaged := t.TempDir()
	write(t, filepath.Join(damaged, "key"), "short")
	if err := os.Chmod(damaged, 0o700); err != nil {
		t.Fatal(err)
	}
	keyless := t.TempDir()
	if err := os.MkdirAll(filepath.Join(keyless, "sandboxes", "abc"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(keyless, 0o700); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{keyless: "key is missing", open: "is open to others (mode 0755)", damaged: "is damaged: it has 5 bytes, not 32"} {
		if _, err := openState(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if info, err := os.Stat(open); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("what was refused has changed: %v, %v", info, err)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
