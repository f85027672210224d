// Package objects keeps large things: logs and artifacts of test runs, and backups.
//
// An object is some bytes under a key. It is there whole or not at all, is
// replaced in one step and never changed. What a store has to do stands in
// package objectstest, which every store passes; [Local] is a directory, [S3]
// a bucket of a server.
//
// # Keys
//
// A key is one or more names with slashes between them, runs/ID/log say. A name
// has 1 to 128 bytes out of A-Z a-z 0-9 . _ - and does not start with a dot; a
// key has at most 512 bytes. Names that others chose, of a sandbox's files say,
// are not fit for keys: number the objects, and keep the names in a record. No
// key may be a folder of another one: beside a/b there is no a.
package objects
