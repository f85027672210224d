package store

import (
	"path/filepath"
	"testing"
	"time"

	"sandgate/internal/backups"
	"sandgate/internal/identity"
	"sandgate/internal/runs"
)

// What is counted is one owner's alone.
func TestQuotas(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "db"))
	ctx := t.Context()
	now := time.UnixMicro(1_700_000_000_000_000).UTC()
	for _, r := range []runs.Record{
		{ID: "1", Owner: "ada", State: runs.StateRunning, CreatedAt: now},
		{ID: "2", Owner: "ada", State: runs.StateQueued, CreatedAt: now},
		{ID: "3", Owner: "ada", State: runs.StateEnded, CreatedAt: now, EndedAt: now, ObjectBytes: 50},
		{ID: "4", Owner: "bob", State: runs.StateRunning, CreatedAt: now},
	} {
		if err := s.SaveRun(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	for id, owner := range map[string]string{"1": "ada", "2": "ada", "3": "bob"} {
		if err := s.SaveBackup(ctx, backups.Backup{ID: id, Owner: owner, Size: 1000, CreatedAt: now, ExpiresAt: now}); err != nil {
			t.Fatal(err)
		}
	}
	for owner, want := range map[string]struct {
		runs  int
		bytes int64
	}{"ada": {2, 2050}, "bob": {1, 1000}, "eve": {}} {
		count, err := s.CountUnfinishedRuns(ctx, owner)
		if err != nil || count != want.runs {
			t.Errorf("%s: %d runs, %v", owner, count, err)
		}
		bytes, err := s.ObjectBytes(ctx, owner)
		if err != nil || bytes != want.bytes {
			t.Errorf("%s: %d bytes, %v", owner, bytes, err)
		}
	}
}

// An owner is of the class of its own key that was used last and is still good.
func TestClassOf(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "db"))
	ctx := t.Context()
	now := time.UnixMicro(1_700_000_000_000_000).UTC()
	ago := func(hours int) time.Time { return now.Add(-time.Duration(hours) * time.Hour) }
	for i, k := range []identity.Key{
		{Owner: "ada", Class: "old", CreatedAt: ago(9), LastUsed: ago(3)},
		{Owner: "ada", Class: "used", CreatedAt: ago(9), LastUsed: ago(2)},
		{Owner: "ada", Class: "expired", CreatedAt: ago(9), LastUsed: ago(1), ExpiresAt: now},
		{Owner: "ada", Class: "revoked", CreatedAt: ago(9), LastUsed: ago(1), RevokedAt: now},
		{Owner: "ada", Class: "unused", CreatedAt: ago(1)},
		{Owner: "bob", Class: "first", CreatedAt: ago(2), ExpiresAt: now.Add(1000)},
		{Owner: "bob", Class: "second", CreatedAt: ago(1), ExpiresAt: now.Add(1000)},
		{Owner: "eve", Class: "revoked", CreatedAt: ago(1), RevokedAt: now},
	} {
		k.ID = string(rune('a' + i))
		k.Hash = []byte(k.ID)
		if err := s.CreateKey(ctx, k); err != nil {
			t.Fatal(err)
		}
	}
	for owner, want := range map[string]string{"ada": "used", "bob": "second", "eve": "", "nobody": ""} {
		if got, err := s.ClassOf(ctx, owner, now); err != nil || got != want {
			t.Errorf("%s is of %q, %v", owner, got, err)
		}
	}
}
