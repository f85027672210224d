package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"sandgate/internal/identity"
	"sandgate/sandboxclient"
)

var _ identity.Sessions = (*Store)(nil)

// maxSessions bounds the browsers that one key may be signed in with.
const maxSessions = 100

// SaveSession implements identity.Sessions.
func (s *Store) SaveSession(ctx context.Context, v identity.Session) error {
	created := v.CreatedAt.UnixMicro()
	return wrap("save session", s.within(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM sessions WHERE expires_at <= $1`, created); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO sessions (hash, key_id, created_at, expires_at) VALUES ($1, $2, $3, $4)`,
			v.Hash, v.Key, created, v.ExpiresAt.UnixMicro())
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `
			DELETE FROM sessions WHERE key_id = $1 AND hash NOT IN (
				SELECT hash FROM sessions WHERE key_id = $1 ORDER BY created_at DESC, hash LIMIT $2)`, v.Key, maxSessions)
		return err
	}))
}

// Session implements identity.Sessions.
func (s *Store) Session(ctx context.Context, hash []byte) (identity.Session, error) {
	v := identity.Session{Hash: hash}
	var created, expires int64
	err := s.db.QueryRowContext(ctx, `SELECT key_id, created_at, expires_at FROM sessions WHERE hash = $1`, hash).
		Scan(&v.Key, &created, &expires)
	if errors.Is(err, sql.ErrNoRows) {
		return identity.Session{}, sandboxclient.Errorf(sandboxclient.CodeNotFound, "There is no such session")
	}
	v.CreatedAt, v.ExpiresAt = time.UnixMicro(created).UTC(), time.UnixMicro(expires).UTC()
	return v, wrap("find session", err)
}

// DeleteSession implements identity.Sessions.
func (s *Store) DeleteSession(ctx context.Context, hash []byte) error {
	_, err := s.db.ExecContext(ctx, `DELETE FROM sessions WHERE hash = $1`, hash)
	return wrap("delete session", err)
}
