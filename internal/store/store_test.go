package store

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sandgate/internal/backups"
	"sandgate/internal/identity"
	"sandgate/sandboxclient"
)

func TestOpen_setsUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	s := open(t, path)
	for pragma, want := range map[string]string{"journal_mode": "wal", "foreign_keys": "1", "busy_timeout": "5000", "synchronous": "1", "secure_delete": "1"} {
		var got string
		if err := s.db.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %s, %v, want %s", pragma, got, err, want)
		}
	}
	if err := s.SaveSandbox(t.Context(), record("a")); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if info, err := os.Stat(path + suffix); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("db%s: %v, %v", suffix, info, err)
		}
	}
}

// What was written before a crash is there after it, without a Close.
func TestOpen_afterACrash(t *testing.T) {
	crashed := filepath.Join(t.TempDir(), "db")
	s := open(t, crashed)
	if err := s.SaveSandbox(t.Context(), record("a")); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "db")
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(crashed + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(copied+suffix, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := open(t, copied).ListSandboxes(t.Context(), sandboxclient.Which{}); err != nil || len(got) != 1 {
		t.Errorf("%v, %v", got, err)
	}
}

// What lasts is flushed as it is committed, and nothing else is.
func TestLastingly(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "db"))
	flushes := func(query func(context.Context, string, ...any) *sql.Row, want string) {
		t.Helper()
		var got string
		if err := query(t.Context(), "PRAGMA synchronous").Scan(&got); err != nil || got != want {
			t.Errorf("synchronous is %s, %v, want %s", got, err, want)
		}
	}
	if err := s.lastingly(t.Context(), func(tx *sql.Tx) error { flushes(tx.QueryRowContext, "2"); return nil }); err != nil {
		t.Error(err)
	}
	flushes(s.db.QueryRowContext, "1")
	broken := errors.New("broken")
	ctx, cancel := context.WithCancel(t.Context())
	if err := s.lastingly(ctx, func(*sql.Tx) error { cancel(); return broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
	flushes(s.db.QueryRowContext, "1")
}

// Backups and keys that were acknowledged, and keys that were revoked, last.
func TestLastingly_whatWasPromised(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "db"))
	for _, statement := range []string{
		`CREATE TEMP TABLE seen (what TEXT, level INTEGER)`,
		`CREATE TEMP TRIGGER a AFTER INSERT ON keys BEGIN INSERT INTO seen SELECT 'key', synchronous FROM pragma_synchronous; END`,
		`CREATE TEMP TRIGGER b AFTER INSERT ON backups BEGIN INSERT INTO seen SELECT 'backup', synchronous FROM pragma_synchronous; END`,
		`CREATE TEMP TRIGGER c AFTER UPDATE ON keys BEGIN INSERT INTO seen SELECT 'revoked', synchronous FROM pragma_synchronous; END`,
	} {
		if _, err := s.db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(
		s.CreateKey(t.Context(), identity.Key{ID: "a", Hash: []byte("h"), Owner: "alice", CreatedAt: time.Now()}),
		s.SaveBackup(t.Context(), backups.Backup{ID: "b", Owner: "alice"}),
		s.RevokeKey(t.Context(), "a", time.Now()),
	); err != nil {
		t.Fatal(err)
	}
	var seen string
	if err := s.db.QueryRowContext(t.Context(), `SELECT group_concat(what || level) FROM seen`).Scan(&seen); err != nil || seen != "key2,backup2,revoked2" {
		t.Errorf("%s, %v", seen, err)
	}
}

func TestOpen_refusesNewer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	s := open(t, path)
	if _, err := s.db.ExecContext(t.Context(), `INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, 1)`); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), path)
	if err == nil || !strings.Contains(err.Error(), "a newer gateway has written it: it has schema 999") {
		t.Errorf("%v", err)
	}
}

func TestOpen_refusesDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	if err := os.WriteFile(path, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), path)
	if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "damaged or no database") {
		t.Errorf("%v", err)
	}
}

func TestOpen_refusesDirectory(t *testing.T) {
	path := t.TempDir()
	if _, err := Open(t.Context(), path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("%v", err)
	}
}

// A full disk is told as what it is.
func TestFullDisk(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "db"))
	if _, err := s.db.ExecContext(t.Context(), `PRAGMA max_page_count = 10`); err != nil {
		t.Fatal(err)
	}
	r := record("a")
	r.Ref.Name = strings.Repeat("x", 1<<20)
	err := s.SaveSandbox(t.Context(), r)
	if sandboxclient.CodeOf(err) != sandboxclient.CodeNoSpace {
		t.Errorf("%v", err)
	}
	if err := s.SaveSandbox(t.Context(), record("b")); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// Another process that holds the file for a while is waited for.
func TestBusy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	mine, others := open(t, path), open(t, path)
	tx, err := others.db.BeginTx(t.Context(), nil) // immediate: it holds the lock
	if err != nil {
		t.Fatal(err)
	}
	saved := make(chan error, 1)
	go func() { saved <- mine.SaveSandbox(t.Context(), record("a")) }()
	select {
	case err := <-saved:
		t.Fatalf("did not wait: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-saved; err != nil {
		t.Error(err)
	}
}
