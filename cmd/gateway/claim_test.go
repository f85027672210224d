package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sandgate/internal/backups"
	"sandgate/internal/objects"
	"sandgate/internal/store"
)

func openClaimer(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), filepath.Join(dir, "db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func openLocal(t *testing.T, dir string) *objects.Local {
	t.Helper()
	kept, err := objects.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = kept.Close() })
	return kept
}

// A store of objects is never opened beside a database that does not know them.
func TestClaimObjects(t *testing.T) {
	kept := openLocal(t, filepath.Join(t.TempDir(), "objects"))
	one, another := openClaimer(t, t.TempDir()), openClaimer(t, t.TempDir())
	for range 2 {
		if err := claimObjects(t.Context(), kept, one); err != nil {
			t.Fatal(err)
		}
	}
	if err := claimObjects(t.Context(), kept, another); err == nil || !strings.Contains(err.Error(), "--database") {
		t.Errorf("by another one: %v", err)
	}
	if err := kept.Delete(t.Context(), claimKey); err != nil {
		t.Fatal(err)
	}
	if err := claimObjects(t.Context(), kept, another); err != nil {
		t.Errorf("given up: %v", err)
	}
}

// A database that has used one store is never opened beside another, such as the
// folder of a disk that is not mounted; with the disk it is.
func TestClaimObjects_notMounted(t *testing.T) {
	state := t.TempDir()
	mounted, folder := openLocal(t, filepath.Join(state, "mounted")), openLocal(t, filepath.Join(state, "folder"))
	records := openClaimer(t, state)
	if err := claimObjects(t.Context(), mounted, records); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := claimObjects(t.Context(), folder, records); err == nil || !strings.Contains(err.Error(), "not mounted") {
			t.Errorf("not mounted: %v", err)
		}
	}
	if err := claimObjects(t.Context(), mounted, records); err != nil {
		t.Errorf("mounted again: %v", err)
	}
}

// A claim that was there before claims were noted is noted when it is found.
func TestClaimObjects_notesAnOlderOne(t *testing.T) {
	kept, records := openLocal(t, filepath.Join(t.TempDir(), "objects")), openClaimer(t, t.TempDir())
	id, err := records.ID(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kept.Put(t.Context(), claimKey, strings.NewReader(id)); err != nil {
		t.Fatal(err)
	}
	if err := claimObjects(t.Context(), kept, records); err != nil {
		t.Fatal(err)
	}
	if has, err := records.HasClaimed(t.Context(), id); err != nil || !has {
		t.Errorf("%v, %v", has, err)
	}
}

// Who says that the objects are lost begins anew; should they turn up, what they are
// is known no more, and they are not taken for this database's.
func TestObjectsClaim(t *testing.T) {
	state := worked(t)
	there := func(dir string) []string {
		return []string{"--state-dir", state, "--objects", filepath.Join(state, dir)}
	}
	begin := func(dir string) error {
		cfg := defaults()
		cfg.StateDir, cfg.Objects = state, filepath.Join(state, dir)
		return withRecords(t, state, func(ctx context.Context, s *store.Store) error {
			kept, err := openObjects(ctx, cfg, s)
			if err != nil {
				return err
			}
			return kept.Close()
		})
	}
	if err := begin("old"); err != nil {
		t.Fatal(err)
	}
	if exit, _, words := do(t, append([]string{"objects", "claim"}, there("old")...)...); exit != exitOK || !strings.Contains(words, "already") {
		t.Errorf("its own: exit %d, %s", exit, words)
	}
	if err := begin("new"); err == nil || !strings.Contains(err.Error(), "gateway objects claim") {
		t.Fatalf("without a word: %v", err)
	}
	if exit, _, words := do(t, append([]string{"objects", "claim"}, there("new")...)...); exit != exitOK || !strings.Contains(words, "anew") {
		t.Errorf("another: exit %d, %s", exit, words)
	}
	if err := begin("new"); err != nil {
		t.Errorf("claimed: %v", err)
	}
	if err := begin("old"); err == nil || !strings.Contains(err.Error(), "another database") {
		t.Errorf("the old one: %v", err)
	}
	if exit, _, words := do(t, append([]string{"objects", "claim"}, there("old")...)...); exit != exitFailure || !strings.Contains(words, "another database") {
		t.Errorf("claims what is another's: exit %d, %s", exit, words)
	}
}

// What is gone is forgotten when the operator says so, with the former store or
// without anything else of it, and not once more.
func TestObjectsClaim_forgets(t *testing.T) {
	state := worked(t)
	kept := filepath.Join(state, "objects")
	if err := os.Mkdir(kept, 0o700); err != nil {
		t.Fatal(err)
	}
	claim := []string{"objects", "claim", "--state-dir", state, "--objects", kept}
	if exit, _, words := do(t, claim...); exit != exitOK {
		t.Fatalf("exit %d, %s", exit, words)
	}
	for _, want := range []string{"already.\nBackups that are not in it and are forgotten now: 1.", "anew with"} {
		save := backups.Backup{ID: "lost", Owner: "ada", CreatedAt: time.Now(), ExpiresAt: time.Now().Add(time.Hour)}
		if err := withRecords(t, state, func(ctx context.Context, s *store.Store) error { return s.SaveBackup(ctx, save) }); err != nil {
			t.Fatal(err)
		}
		exit, _, words := do(t, claim...)
		if exit != exitOK || !strings.Contains(words, want) || !strings.Contains(words, "forgotten now: 1.") {
			t.Errorf("exit %d, %s", exit, words)
		}
		if exit, _, words := do(t, claim...); exit != exitOK || !strings.Contains(words, "nothing to do") {
			t.Errorf("again: exit %d, %s", exit, words)
		}
		if err := errors.Join(os.RemoveAll(kept), os.Mkdir(kept, 0o700)); err != nil {
			t.Fatal(err)
		}
	}
}

// A gateway that runs on the state directory is not interfered with.
func TestObjectsClaim_besideAGateway(t *testing.T) {
	dir := worked(t)
	state, err := openState(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer state.Close()
	if exit, _, words := do(t, "objects", "claim", "--state-dir", dir, "--objects", t.TempDir()); exit != exitFailure || !strings.Contains(words, "another gateway works") {
		t.Errorf("exit %d, %s", exit, words)
	}
}

// A command that was not told what the gateway is told takes nothing for lost.
func TestObjectsClaim_withASettingLeftOut(t *testing.T) {
	state := worked(t)
	for name, args := range map[string][]string{
		"no --objects":   {"--state-dir", state},
		"no --database":  {"--state-dir", t.TempDir(), "--objects", t.TempDir()},
		"no --state-dir": {"--state-dir", filepath.Join(state, "none"), "--database", filepath.Join(state, "db"), "--objects", t.TempDir()},
	} {
		if exit, _, words := do(t, append([]string{"objects", "claim"}, args...)...); exit != exitFailure || !strings.Contains(words, "--objects") {
			t.Errorf("%s: exit %d, %s", name, exit, words)
		}
	}
	if isThere(filepath.Join(state, "none")) || isThere(filepath.Join(state, "objects")) {
		t.Error("it made a directory")
	}
}

// worked gives a state directory that a gateway has worked on.
func worked(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	state, err := openState(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(withRecords(t, dir, func(context.Context, *store.Store) error { return nil }), state.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

func withRecords(t *testing.T, state string, work func(context.Context, *store.Store) error) error {
	t.Helper()
	s, err := store.Open(t.Context(), filepath.Join(state, "db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	return work(t.Context(), s)
}
