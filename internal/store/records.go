package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"sandgate/sandboxclient"
)

var _ sandboxclient.Records = (*Store)(nil)

// SaveSandbox implements sandboxclient.Records.
func (s *Store) SaveSandbox(ctx context.Context, r sandboxclient.Record) error {
	_, err := s.db.ExecContext(ctx, `
		INSERT INTO sandboxes (id, owner, app, name, ephemeral, created_at, last_used)
		VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (id) DO UPDATE SET
			owner = excluded.owner, app = excluded.app, name = excluded.name,
			ephemeral = excluded.ephemeral, last_used = excluded.last_used`,
		string(r.ID), r.Ref.Owner, r.Ref.App, r.Ref.Name, toInt(r.Ref.Ephemeral), r.CreatedAt.UnixMicro(), r.LastUsed.UnixMicro())
	return wrap("save sandbox", err)
}

// ListSandboxes implements sandboxclient.Records.
func (s *Store) ListSandboxes(ctx context.Context, which sandboxclient.Which) ([]sandboxclient.Record, error) {
	query, args := `SELECT id, owner, app, name, ephemeral, created_at, last_used FROM sandboxes`, []any(nil)
	switch {
	case which.ID != "":
		query, args = query+` WHERE id = $1`, []any{string(which.ID)}
	case which.Owner != "":
		query, args = query+` WHERE owner = $1`, []any{which.Owner}
	}
	rows, err := s.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, wrap("list sandboxes", err)
	}
	defer rows.Close()
	var records []sandboxclient.Record
	for rows.Next() {
		var r sandboxclient.Record
		var ephemeral, created, used int64
		if err := rows.Scan(&r.ID, &r.Ref.Owner, &r.Ref.App, &r.Ref.Name, &ephemeral, &created, &used); err != nil {
			return nil, wrap("list sandboxes", err)
		}
		r.Ref.Ephemeral = ephemeral != 0
		r.CreatedAt, r.LastUsed = time.UnixMicro(created).UTC(), time.UnixMicro(used).UTC()
		records = append(records, r)
	}
	return records, wrap("list sandboxes", rows.Err())
}

// toInt gives a truth in the portable form.
func toInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// DeleteSandbox implements sandboxclient.Records.
func (s *Store) DeleteSandbox(ctx context.Context, id sandboxclient.ID) error {
	return wrap("delete sandbox", s.within(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM generations WHERE sandbox_id = $1`, string(id)); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM sandboxes WHERE id = $1`, string(id))
		return err
	}))
}

// Generation implements sandboxclient.Records.
func (s *Store) Generation(ctx context.Context, id sandboxclient.ID, codeContext string, started bool) (int, error) {
	query := `SELECT generation FROM generations WHERE sandbox_id = $1 AND context = $2`
	if started {
		query = `
			INSERT INTO generations (sandbox_id, context, generation) VALUES ($1, $2, 1)
			ON CONFLICT (sandbox_id, context) DO UPDATE SET generation = generations.generation + 1
			RETURNING generation`
	}
	var n int
	err := s.db.QueryRowContext(ctx, query, string(id), codeContext).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return n, wrap("count kernels", err)
}

// within does what must be done whole or not at all.
func (s *Store) within(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after a commit
	if err := do(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// lastingly is within for what was promised once it returns: a loss of power takes
// no part of it, as it may of what else was written in the last seconds.
func (s *Store) lastingly(ctx context.Context, do func(*sql.Tx) error) (err error) {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	// It is the connection's, of which there is one. To leave it so would cost time
	// alone; not to come back to it must not depend on ctx.
	if _, err := conn.ExecContext(ctx, `PRAGMA synchronous = FULL`); err != nil {
		return err
	}
	defer func() {
		_, usual := conn.ExecContext(context.WithoutCancel(ctx), `PRAGMA synchronous = NORMAL`)
		err = errors.Join(err, usual)
	}()
	// Were its context to end, the transaction would be taken back by and by, and
	// until then the connection stays as it is.
	tx, err := conn.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after a commit
	if err := do(tx); err != nil {
		return err
	}
	return tx.Commit()
}

func wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s in the database: %w", doing, explain(err))
}
