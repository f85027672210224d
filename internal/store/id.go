package store

import (
	"context"

	"github.com/google/uuid"
)

// ID is what a database is called, which it is given when first asked. A copy of
// it has the same.
func (s *Store) ID(ctx context.Context) (string, error) {
	if _, err := s.db.ExecContext(ctx, `INSERT INTO meta (name, value) VALUES ('id', $1) ON CONFLICT (name) DO NOTHING`, uuid.NewString()); err != nil {
		return "", wrap("name the database", err)
	}
	var id string
	err := s.db.QueryRowContext(ctx, `SELECT value FROM meta WHERE name = 'id'`).Scan(&id)
	return id, wrap("name the database", err)
}
