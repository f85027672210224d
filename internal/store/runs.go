package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"math"
	"time"

	"sandgate/internal/runs"
	"sandgate/sandboxclient"
)

var (
	_ runs.Records   = (*Store)(nil)
	_ runs.Retention = (*Store)(nil)
)

// SaveRun implements runs.Records.
func (s *Store) SaveRun(ctx context.Context, r runs.Record) error {
	var ended sql.NullInt64
	if !r.EndedAt.IsZero() {
		ended = sql.NullInt64{Int64: r.EndedAt.UnixMicro(), Valid: true}
	}
	_, err := s.db.ExecContext(ctx, `
		INSERT INTO runs (id, owner, state, created_at, ended_at, summary, progress, object_bytes)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (id) DO UPDATE SET
			state = excluded.state, ended_at = excluded.ended_at,
			summary = excluded.summary, progress = excluded.progress, object_bytes = excluded.object_bytes`,
		r.ID, r.Owner, string(r.State), r.CreatedAt.UnixMicro(), ended, string(r.Summary), string(r.Progress), r.ObjectBytes)
	return wrap("save run", err)
}

// Run implements runs.Records.
func (s *Store) Run(ctx context.Context, owner, id string) (runs.Record, error) {
	found, err := s.queryRuns(ctx, `
		SELECT id, owner, state, created_at, ended_at, summary, progress FROM runs
		WHERE owner = $1 AND id = $2`, owner, id)
	if err != nil {
		return runs.Record{}, wrap("find run", err)
	}
	if len(found) == 0 {
		return runs.Record{}, sandboxclient.Errorf(sandboxclient.CodeNotFound, "There is no such run")
	}
	return found[0], nil
}

// ListRuns implements runs.Records.
func (s *Store) ListRuns(ctx context.Context, owner string, after runs.Position, limit int) ([]runs.Record, error) {
	created := int64(math.MaxInt64)
	if after != (runs.Position{}) {
		created = after.CreatedAt.UnixMicro()
	}
	found, err := s.queryRuns(ctx, `
		SELECT id, owner, state, created_at, ended_at, summary, '' FROM runs
		WHERE owner = $1 AND (created_at, id) < ($2, $3)
		ORDER BY created_at DESC, id DESC LIMIT $4`, owner, created, after.ID, max(limit, 0))
	return found, wrap("list runs", err)
}

// UnfinishedRuns implements runs.Records.
func (s *Store) UnfinishedRuns(ctx context.Context) ([]runs.Record, error) {
	found, err := s.queryRuns(ctx, `
		SELECT id, owner, state, created_at, ended_at, summary, progress FROM runs
		WHERE ended_at IS NULL ORDER BY created_at, id`)
	return found, wrap("list unfinished runs", err)
}

// EndedRuns implements runs.Retention.
func (s *Store) EndedRuns(ctx context.Context, before time.Time, limit int) ([]runs.Record, error) {
	found, err := s.queryRuns(ctx, `
		SELECT id, owner, state, created_at, ended_at, summary, '' FROM runs
		WHERE ended_at IS NOT NULL AND ended_at < $1
		ORDER BY ended_at, id LIMIT $2`, before.UnixMicro(), max(limit, 0))
	return found, wrap("list ended runs", err)
}

// DeleteRun implements runs.Retention.
func (s *Store) DeleteRun(ctx context.Context, id string) error {
	_, err := s.db.ExecContext(ctx, `DELETE FROM runs WHERE id = $1`, id)
	return wrap("delete run", err)
}

// KnowsRun implements runs.Retention.
func (s *Store) KnowsRun(ctx context.Context, id string) (bool, error) {
	var one int
	err := s.db.QueryRowContext(ctx, `SELECT 1 FROM runs WHERE id = $1`, id).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, wrap("find run", err)
}

// queryRuns asks for all columns of runs, in their order.
func (s *Store) queryRuns(ctx context.Context, query string, args ...any) ([]runs.Record, error) {
	rows, err := s.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []runs.Record
	for rows.Next() {
		r, err := scanRun(rows)
		if err != nil {
			return nil, err
		}
		found = append(found, r)
	}
	return found, rows.Err()
}

func scanRun(rows *sql.Rows) (runs.Record, error) {
	var r runs.Record
	var created int64
	var ended sql.NullInt64
	var summary, progress string
	if err := rows.Scan(&r.ID, &r.Owner, &r.State, &created, &ended, &summary, &progress); err != nil {
		return runs.Record{}, err
	}
	r.CreatedAt = time.UnixMicro(created).UTC()
	if ended.Valid {
		r.EndedAt = time.UnixMicro(ended.Int64).UTC()
	}
	r.Summary, r.Progress = toJSON(summary), toJSON(progress)
	return r, nil
}

// toJSON keeps nothing as nothing, which is no JSON.
func toJSON(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}
