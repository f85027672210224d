package main

import (
	"os"
	"path/filepath"
	"testing"
)

// What lies about in a store of another database is not ours to remove.
func TestOpenObjects_sweepsItsOwn(t *testing.T) {
	cfg := defaults()
	cfg.StateDir = t.TempDir()
	cfg.Objects = filepath.Join(cfg.StateDir, "objects")
	own, another := openClaimer(t, t.TempDir()), openClaimer(t, t.TempDir())
	kept, err := openObjects(t.Context(), cfg, own)
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	half := filepath.Join(cfg.Objects, ".unfinished", "half")
	if err := os.WriteFile(half, []byte("ha"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openObjects(t.Context(), cfg, another); err == nil {
		t.Fatal("opened for another database")
	}
	if _, err := os.Lstat(half); err != nil {
		t.Errorf("another database's gateway swept: %v", err)
	}
	again, err := openObjects(t.Context(), cfg, own)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if _, err := os.Lstat(half); !os.IsNotExist(err) {
		t.Errorf("its own was not swept: %v", err)
	}
}
