package store

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"sandgate/sandboxclient"
)

// explain puts words to the failures that an operator can do something about.
func explain(err error) error {
	failure, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return err
	}
	switch failure.Code() & 0xff { // the rest tells variants apart
	case sqlite3.SQLITE_FULL:
		return &sandboxclient.Error{
			Code:    sandboxclient.CodeNoSpace,
			Message: "The gateway's disk is full",
			Err:     err,
		}
	case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
		return fmt.Errorf("the file is damaged or no database: move it away or restore a copy of it: %w", err)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return fmt.Errorf("the file or its directory cannot be written: %w", err)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fmt.Errorf("another process has the file locked: %w", err)
	}
	return err
}
