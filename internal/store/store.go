package store

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver named sqlite
)

// Store is an open database. Its methods may be called from many goroutines.
type Store struct {
	db *sql.DB
}

// Open opens the database at path, makes it if it is not there, and brings its
// schema up to date.
func Open(ctx context.Context, path string) (*Store, error) {
	if err := makeFile(path); err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	db, err := sql.Open("sqlite", source(path))
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	db.SetMaxOpenConns(1) // SQLite has one writer at a time; waiting here is cheaper than in it
	if err := migrate(ctx, db); err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("open database %s: %w", path, explain(err))
	}
	return &Store{db: db}, nil
}

// Close writes everything into the one file and closes it.
func (s *Store) Close() error { return s.db.Close() }

// makeFile makes an empty database that nobody else may read; SQLite gives the
// files it puts beside it the same mode.
func makeFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// source is the driver's name for the file and how it is used.
func source(path string) string {
	query := url.Values{
		"_txlock": {"immediate"},
		"_pragma": {"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(NORMAL)", "foreign_keys(1)", "secure_delete(1)"},
	}
	return (&url.URL{Scheme: "file", Opaque: url.PathEscape(path), RawQuery: query.Encode()}).String()
}
