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

// claimObjects binds an object store to the database with the id. What no record
// leads to is removed from the store, so that another database must never be put
// beside it: it would know of nothing.
func claimObjects(ctx context.Context, kept objectStore, id string) error {
	body, _, err := kept.Get(ctx, claimKey, 0)
	if errors.Is(err, objects.ErrNotExist) {
		_, err := kept.Put(ctx, claimKey, strings.NewReader(id))
		return err
	}
	if err != nil {
		return err
	}
	defer body.Close()
	claimed, err := io.ReadAll(io.LimitReader(body, 100))
	if err != nil {
		return err
	}
	if string(claimed) != id {
		return fmt.Errorf("the objects belong to another database, which knows what they are: set --database, or --objects, to what it was; to give them up to this one, remove the object %q", claimKey)
	}
	return nil
}
