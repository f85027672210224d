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

// Rename gives the database another id, by which it has claimed nothing.
func (s *Store) Rename(ctx context.Context) error {
	return wrap("name the database", s.note(ctx, "id", uuid.NewString()))
}

// HasClaimed says whether a claim was noted that was made by that id.
func (s *Store) HasClaimed(ctx context.Context, id string) (has bool, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT count(*) > 0 FROM meta WHERE name = 'claimed' AND value = $1`, id).Scan(&has)
	return has, wrap("find the claim", err)
}

// NoteClaim notes that the database has claimed a store of objects by that id.
func (s *Store) NoteClaim(ctx context.Context, id string) error {
	return wrap("note the claim", s.note(ctx, "claimed", id))
}

// note writes down something about the database itself.
func (s *Store) note(ctx context.Context, name, value string) error {
	_, err := s.db.ExecContext(ctx, `INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value`, name, value)
	return err
}
