package store

import (
	"context"
	"errors"
	"time"

	"sandgate/internal/runs"
)

var (
	_ runs.Records   = (*Store)(nil)
	_ runs.Retention = (*Store)(nil)
)

// SaveRun implements runs.Records.
func (s *Store) SaveRun(ctx context.Context, r runs.Record) error { return errors.ErrUnsupported }

// Run implements runs.Records.
func (s *Store) Run(ctx context.Context, owner, id string) (runs.Record, error) {
	return runs.Record{}, errors.ErrUnsupported
}

// ListRuns implements runs.Records.
func (s *Store) ListRuns(ctx context.Context, owner string, after runs.Position, limit int) ([]runs.Record, error) {
	return nil, errors.ErrUnsupported
}

// UnfinishedRuns implements runs.Records.
func (s *Store) UnfinishedRuns(ctx context.Context) ([]runs.Record, error) {
	return nil, errors.ErrUnsupported
}

// EndedRuns implements runs.Retention.
func (s *Store) EndedRuns(ctx context.Context, before time.Time, limit int) ([]runs.Record, error) {
	return nil, errors.ErrUnsupported
}

// DeleteRun implements runs.Retention.
func (s *Store) DeleteRun(ctx context.Context, id string) error { return errors.ErrUnsupported }

// KnowsRun implements runs.Retention.
func (s *Store) KnowsRun(ctx context.Context, id string) (bool, error) {
	return false, errors.ErrUnsupported
}
