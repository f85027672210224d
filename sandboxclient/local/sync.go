package local

import (
	"context"
	"fmt"

	"sandgate/sandboxclient"
)

var _ sandboxclient.Syncer = (*Driver)(nil)

// Sync brings what was written into a workspace to the disk: this one alone where
// it is a file system of its own.
func (d *Driver) Sync(_ context.Context, id sandboxclient.ID) error {
	if !id.Valid() {
		return fmt.Errorf("no sandbox has the id %.40q", string(id))
	}
	if err := syncDir(d.layout.workspace(id)); err != nil {
		return fmt.Errorf("flush the workspace: %w", err)
	}
	return nil
}
