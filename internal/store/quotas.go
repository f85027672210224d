package store

import "context"

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
