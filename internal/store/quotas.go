package store

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// CountUnfinishedRuns tells how many runs of an owner have not ended.
func (s *Store) CountUnfinishedRuns(ctx context.Context, owner string) (int, error) {
	var n int
	err := s.db.QueryRowContext(ctx, `SELECT COUNT(*) FROM runs WHERE owner = $1 AND ended_at IS NULL`, owner).Scan(&n)
	return n, wrap("count runs", err)
}

// ObjectBytes tells what an owner's backups take, with the artifacts and logs of
// its runs.
func (s *Store) ObjectBytes(ctx context.Context, owner string) (int64, error) {
	var n int64
	err := s.db.QueryRowContext(ctx, `
		SELECT (SELECT COALESCE(SUM(size), 0) FROM backups WHERE owner = $1)
		     + (SELECT COALESCE(SUM(object_bytes), 0) FROM runs WHERE owner = $1)`, owner).Scan(&n)
	return n, wrap("weigh objects", err)
}

// ClassOf gives the class of an owner's key that was used last, of those that are
// good; "" when there is none.
func (s *Store) ClassOf(ctx context.Context, owner string, now time.Time) (string, error) {
	var class string
	err := s.db.QueryRowContext(ctx, `
		SELECT class FROM keys
		WHERE owner = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)
		ORDER BY COALESCE(last_used, 0) DESC, created_at DESC, id LIMIT 1`, owner, now.UnixMicro()).Scan(&class)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return class, wrap("find the class of an owner", err)
}
