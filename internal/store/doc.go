// Package store keeps what the gateway promised in a database: whose sandboxes
// there are, how many kernels their code contexts had, what runs and backups there
// are, who has a key or a session, and which store of objects is the database's own.
//
// The database is one SQLite file. Statements stay within what SQLite and
// PostgreSQL have in common. Migrations only go forward; a database that a
// newer gateway has written is refused.
package store
