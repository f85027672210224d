package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sandgate/internal/backups"
)

func aBackup(owner, id string, created time.Time) backups.Backup {
	return backups.Backup{
		ID: id, Owner: owner, App: "files", Name: "files", Dir: "/workspace/naïve 'quoted'", Label: "label", Size: 1, Files: 2,
		Content: 3, Skipped: 4, Changed: 5, Checksum: "sha256:x", CreatedAt: created, ExpiresAt: created.Add(time.Hour),
	}
}

func saveBackups(t *testing.T, s *Store, all ...backups.Backup) {
	t.Helper()
	for _, b := range all {
		if err := s.SaveBackup(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
}

func backupIDs(all []backups.Backup) []string {
	ids := []string{}
	for _, b := range all {
		ids = append(ids, b.ID)
	}
	return ids
}

func TestBackups_belongToTheirOwners(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "db"))
	want := aBackup("ada", "1", noon)
	saveBackups(t, s, want, aBackup("bob", "2", noon))
	got, err := s.Backup(t.Context(), "ada", "1")
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("%v, %s", err, cmp.Diff(want, got))
	}
	for _, id := range []string{"2", "3", ""} {
		if _, err := s.Backup(t.Context(), "ada", id); !errors.Is(err, backups.ErrNotFound) {
			t.Errorf("%q: %v", id, err)
		}
		if err := s.DeleteBackup(t.Context(), "ada", id); !errors.Is(err, backups.ErrNotFound) {
			t.Errorf("delete %q: %v", id, err)
		}
	}
	if err := s.DeleteBackup(t.Context(), "ada", "1"); err != nil {
		t.Error(err)
	}
	if known, err := s.KnowsBackup(t.Context(), "1"); err != nil || known {
		t.Errorf("%v, %v", known, err)
	}
}

func TestListBackups_newestFirstByPages(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "db"))
	for i := range 7 {
		b := aBackup("ada", fmt.Sprint(i), noon.Add(time.Duration(i/2)*time.Minute))
		if i == 3 {
			b.App, b.Name = "notebook", "other"
		}
		saveBackups(t, s, b)
	}
	var seen []string
	var after backups.Position
	for {
		page, err := s.ListBackups(t.Context(), "ada", backups.Filter{After: after}, 2)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		seen = append(seen, backupIDs(page)...)
		last := page[len(page)-1]
		after = backups.Position{CreatedAt: last.CreatedAt, ID: last.ID}
	}
	if want := []string{"6", "5", "4", "3", "2", "1", "0"}; !cmp.Equal(seen, want) {
		t.Errorf("%q", seen)
	}
	for _, f := range []backups.Filter{{App: "notebook"}, {Name: "other"}, {App: "notebook", Name: "other"}, {Apps: []string{"coderunner", "notebook"}}} {
		if page, err := s.ListBackups(t.Context(), "ada", f, 10); err != nil || !cmp.Equal(backupIDs(page), []string{"3"}) {
			t.Errorf("%+v: %q, %v", f, backupIDs(page), err)
		}
	}
	for _, f := range []backups.Filter{{Apps: []string{"file", "les,not"}}, {App: "files", Apps: []string{"notebook"}}} {
		if page, err := s.ListBackups(t.Context(), "ada", f, 10); err != nil || len(page) != 0 {
			t.Errorf("%+v: %q, %v", f, backupIDs(page), err)
		}
	}
}

func TestExpiredBackups(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "db"))
	saveBackups(t, s, aBackup("ada", "old", noon.Add(-time.Hour)), aBackup("bob", "older", noon.Add(-2*time.Hour)), aBackup("ada", "new", noon))
	got, err := s.ExpiredBackups(t.Context(), noon, 10)
	if err != nil || !cmp.Equal(backupIDs(got), []string{"older", "old"}) {
		t.Errorf("%q, %v", backupIDs(got), err)
	}
	got, err = s.BackupsAfter(t.Context(), "new", 10)
	if err != nil || !cmp.Equal(backupIDs(got), []string{"old", "older"}) {
		t.Errorf("%q, %v", backupIDs(got), err)
	}
}
