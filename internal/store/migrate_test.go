package store

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sandgate/internal/runs"
	"sandgate/sandboxclient"
)

// openAt opens a database as an older gateway had it.
func openAt(t *testing.T, path string, version int64) *Store {
	t.Helper()
	if err := makeFile(path); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", source(path))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	provider, err := newProvider(db)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.UpTo(t.Context(), version); err != nil {
		t.Fatal(err)
	}
	return &Store{db: db}
}

// A database from before there were runs keeps what it has, and gets them.
func TestMigrate_runs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	old := openAt(t, path, 1)
	if err := old.SaveRun(t.Context(), queued("ada", "1", noon)); err == nil {
		t.Fatal("schema 1 has runs")
	}
	want := []sandboxclient.Record{record("a"), record("bb")}
	for _, r := range want {
		if err := old.SaveSandbox(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := old.Generation(t.Context(), want[0].ID, "c", true); err != nil {
		t.Fatal(err)
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}

	for range 2 { // the second time there is nothing to do
		s := open(t, path)
		saveRuns(t, s, queued("ada", "1", noon))
		checkOldRows(t, s, want)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	got, err := open(t, path).ListRuns(t.Context(), "ada", runs.Position{}, 10)
	if err != nil || ids(got) != "1" {
		t.Errorf("%s, %v", ids(got), err)
	}
}

func checkOldRows(t *testing.T, s *Store, want []sandboxclient.Record) {
	t.Helper()
	got, err := s.ListSandboxes(t.Context(), sandboxclient.Which{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if n, err := s.Generation(t.Context(), want[0].ID, "c", false); err != nil || n != 1 {
		t.Errorf("generation %d, %v", n, err)
	}
}
