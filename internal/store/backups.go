package store

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"strings"
	"time"

	"sandgate/internal/backups"
)

var (
	_ backups.Records   = (*Store)(nil)
	_ backups.Retention = (*Store)(nil)
)

const backupColumns = `id, owner, app, name, dir, label, size, files, content, skipped, changed, checksum, created_at, expires_at`

// SaveBackup implements backups.Records.
func (s *Store) SaveBackup(ctx context.Context, b backups.Backup) error {
	return wrap("save backup", s.lastingly(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO backups (`+backupColumns+`)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
			b.ID, b.Owner, b.App, b.Name, b.Dir, b.Label, b.Size, b.Files, b.Content, b.Skipped, b.Changed,
			b.Checksum, b.CreatedAt.UnixMicro(), b.ExpiresAt.UnixMicro())
		return err
	}))
}

// Backup implements backups.Records.
func (s *Store) Backup(ctx context.Context, owner, id string) (backups.Backup, error) {
	found, err := s.queryBackups(ctx, `SELECT `+backupColumns+` FROM backups WHERE owner = $1 AND id = $2`, owner, id)
	if err != nil {
		return backups.Backup{}, wrap("find backup", err)
	}
	if len(found) == 0 {
		return backups.Backup{}, backups.ErrNotFound
	}
	return found[0], nil
}

// ListBackups implements backups.Records.
func (s *Store) ListBackups(ctx context.Context, owner string, f backups.Filter, limit int) ([]backups.Backup, error) {
	created := int64(math.MaxInt64)
	if f.After != (backups.Position{}) {
		created = f.After.CreatedAt.UnixMicro()
	}
	found, err := s.queryBackups(ctx, `
		SELECT `+backupColumns+` FROM backups
		WHERE owner = $1 AND (created_at, id) < ($2, $3) AND ($4 = '' OR app = $4) AND ($5 = '' OR name = $5)
			AND ($6 = 0 OR $7 LIKE '%,' || app || ',%')
		ORDER BY created_at DESC, id DESC LIMIT $8`,
		owner, created, f.After.ID, f.App, f.Name, len(f.Apps), ","+strings.Join(f.Apps, ",")+",", max(limit, 0))
	return found, wrap("list backups", err)
}

// DeleteBackup implements backups.Records.
func (s *Store) DeleteBackup(ctx context.Context, owner, id string) error {
	result, err := s.db.ExecContext(ctx, `DELETE FROM backups WHERE owner = $1 AND id = $2`, owner, id)
	if err != nil {
		return wrap("delete backup", err)
	}
	if n, err := result.RowsAffected(); err != nil || n > 0 {
		return wrap("delete backup", err)
	}
	return backups.ErrNotFound
}

// ExpiredBackups implements backups.Retention.
func (s *Store) ExpiredBackups(ctx context.Context, before time.Time, limit int) ([]backups.Backup, error) {
	found, err := s.queryBackups(ctx, `
		SELECT `+backupColumns+` FROM backups WHERE expires_at <= $1 ORDER BY expires_at, id LIMIT $2`,
		before.UnixMicro(), max(limit, 0))
	return found, wrap("list expired backups", err)
}

// BackupsAfter implements backups.Retention.
func (s *Store) BackupsAfter(ctx context.Context, id string, limit int) ([]backups.Backup, error) {
	found, err := s.queryBackups(ctx, `SELECT `+backupColumns+` FROM backups WHERE id > $1 ORDER BY id LIMIT $2`, id, max(limit, 0))
	return found, wrap("list all backups", err)
}

// KnowsBackup implements backups.Retention.
func (s *Store) KnowsBackup(ctx context.Context, id string) (bool, error) {
	var one int
	err := s.db.QueryRowContext(ctx, `SELECT 1 FROM backups WHERE id = $1`, id).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, wrap("find backup", err)
}

// queryBackups asks for all columns of backups, in their order.
func (s *Store) queryBackups(ctx context.Context, query string, args ...any) ([]backups.Backup, error) {
	rows, err := s.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []backups.Backup
	for rows.Next() {
		var b backups.Backup
		var created, expires int64
		if err := rows.Scan(&b.ID, &b.Owner, &b.App, &b.Name, &b.Dir, &b.Label, &b.Size, &b.Files, &b.Content,
			&b.Skipped, &b.Changed, &b.Checksum, &created, &expires); err != nil {
			return nil, err
		}
		b.CreatedAt, b.ExpiresAt = time.UnixMicro(created).UTC(), time.UnixMicro(expires).UTC()
		found = append(found, b)
	}
	return found, rows.Err()
}
