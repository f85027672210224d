package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"sandgate/internal/objects"
)

// claimKey is the object that says which database knows of the others.
const claimKey = "database"

// A claimer knows what its database is called, and whether it has claimed a store
// by that name.
type claimer interface {
	ID(ctx context.Context) (string, error)
	HasClaimed(ctx context.Context, id string) (bool, error)
	NoteClaim(ctx context.Context, id string) error
}

// claimObjects binds an object store and a database to each other. What no record
// leads to is removed from the store, so that another database must never be put
// beside it: it would know of nothing. And records whose object is gone are
// forgotten, so that a database must never be put beside another store, such as the
// empty folder in which a disk should be.
func claimObjects(ctx context.Context, kept objectStore, records claimer) error {
	id, err := records.ID(ctx)
	if err != nil {
		return err
	}
	claim, err := readClaim(ctx, kept)
	switch {
	case errors.Is(err, objects.ErrNotExist):
		return claimFirst(ctx, kept, records, id)
	case err != nil:
		return err
	case claim != id:
		return fmt.Errorf("the objects belong to another database, which knows what they are: set --database, or --objects, to what it was; to give them up to this one, remove the object %q", claimKey)
	}
	return records.NoteClaim(ctx, id)
}

// readClaim gives the id of the database that has claimed a store.
func readClaim(ctx context.Context, kept objectStore) (string, error) {
	body, _, err := kept.Get(ctx, claimKey, 0)
	if err != nil {
		return "", err
	}
	defer body.Close()
	claim, err := io.ReadAll(io.LimitReader(body, 100))
	return string(claim), err
}

// claimFirst claims a store that nobody has claimed, if it is the database's first.
// It is noted last: a database that has noted nothing can try again.
func claimFirst(ctx context.Context, kept objectStore, records claimer, id string) error {
	has, err := records.HasClaimed(ctx, id)
	if err != nil {
		return err
	}
	if has {
		return fmt.Errorf("--objects is not the place that this database has used: the object %q, which marks it, is not there. "+
			"Perhaps a disk is not mounted, or the address is mistyped: put that right, and nothing is lost. "+
			"If the objects are gone for good, %s with the settings of this gateway begins anew with this place", claimKey, claimCommand)
	}
	if _, err := kept.Put(ctx, claimKey, strings.NewReader(id)); err != nil {
		return err
	}
	return records.NoteClaim(ctx, id)
}
