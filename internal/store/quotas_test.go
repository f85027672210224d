package store

import (
	"path/filepath"
	"testing"
	"time"

	"sandgate/internal/backups"
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
