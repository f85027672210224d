package store

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"sandgate/internal/identity"
	"sandgate/sandboxclient"
)

var _ identity.Keys = (*Store)(nil)

const keyColumns = `id, hash, owner, label, class, apps, read_only, admin, created_at, expires_at, revoked_at, last_used`

// CreateKey adds a key.
func (s *Store) CreateKey(ctx context.Context, k identity.Key) error {
	return wrap("create key", s.lastingly(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO keys (`+keyColumns+`)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
			k.ID, k.Hash, k.Owner, k.Label, k.Class, strings.Join(k.Apps, ","), toInt(k.ReadOnly), toInt(k.Admin),
			k.CreatedAt.UnixMicro(), fromTime(k.ExpiresAt), fromTime(k.RevokedAt), fromTime(k.LastUsed))
		return err
	}))
}

// Key implements identity.Keys.
func (s *Store) Key(ctx context.Context, id string) (identity.Key, error) {
	found, err := s.queryKeys(ctx, `SELECT `+keyColumns+` FROM keys WHERE id = $1`, id)
	if err != nil {
		return identity.Key{}, wrap("find key", err)
	}
	if len(found) == 0 {
		return identity.Key{}, noKey(id)
	}
	return found[0], nil
}

// ListKeys gives all keys, oldest first; those of one owner if it is named.
func (s *Store) ListKeys(ctx context.Context, owner string) ([]identity.Key, error) {
	found, err := s.queryKeys(ctx, `
		SELECT `+keyColumns+` FROM keys WHERE $1 = '' OR owner = $1 ORDER BY created_at, id`, owner)
	return found, wrap("list keys", err)
}

// KeyUsed implements identity.Keys.
func (s *Store) KeyUsed(ctx context.Context, id string, at time.Time) error {
	_, err := s.db.ExecContext(ctx, `UPDATE keys SET last_used = $1 WHERE id = $2`, at.UnixMicro(), id)
	return wrap("note the use of a key", err)
}

// RevokeKey refuses a key from now on, and ends its sessions. One that was revoked
// before stays as it is.
func (s *Store) RevokeKey(ctx context.Context, id string, at time.Time) error {
	return wrap("revoke key", s.lastingly(ctx, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `UPDATE keys SET revoked_at = COALESCE(revoked_at, $1) WHERE id = $2`, at.UnixMicro(), id)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n == 0 {
			return errorOr(err, noKey(id))
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM sessions WHERE key_id = $1`, id)
		return err
	}))
}

func errorOr(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

func noKey(id string) error {
	return sandboxclient.Errorf(sandboxclient.CodeNotFound, "There is no key %.20q", id)
}

// queryKeys asks for all columns of keys, in their order.
func (s *Store) queryKeys(ctx context.Context, query string, args ...any) ([]identity.Key, error) {
	rows, err := s.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []identity.Key
	for rows.Next() {
		k, err := scanKey(rows)
		if err != nil {
			return nil, err
		}
		found = append(found, k)
	}
	return found, rows.Err()
}

func scanKey(rows *sql.Rows) (identity.Key, error) {
	var k identity.Key
	var apps string
	var readOnly, admin, created int64
	var expires, revoked, used sql.NullInt64
	err := rows.Scan(&k.ID, &k.Hash, &k.Owner, &k.Label, &k.Class, &apps, &readOnly, &admin, &created, &expires, &revoked, &used)
	if apps != "" {
		k.Apps = strings.Split(apps, ",")
	}
	k.ReadOnly, k.Admin = readOnly != 0, admin != 0
	k.CreatedAt = time.UnixMicro(created).UTC()
	k.ExpiresAt, k.RevokedAt, k.LastUsed = toTime(expires), toTime(revoked), toTime(used)
	return k, err
}

// fromTime gives a time that may be none.
func fromTime(t time.Time) sql.NullInt64 {
	return sql.NullInt64{Int64: t.UnixMicro(), Valid: !t.IsZero()}
}

func toTime(micros sql.NullInt64) time.Time {
	if !micros.Valid {
		return time.Time{}
	}
	return time.UnixMicro(micros.Int64).UTC()
}
