package local

import (
	"context"
	"fmt"

	"golang.org/x/sys/unix"

	"sandgate/sandboxclient"
)

var _ sandboxclient.Roomer = (*Driver)(nil)

// maxReserve and its share of the disk are kept free, the smaller of the two:
// for the database, and for what was written into workspaces and is not on the
// disk yet.
const (
	maxReserve   = 1 << 30
	reserveShare = 20
)

// Room is what may still be stored below the state directory.
func (d *Driver) Room(context.Context) (int64, error) {
	room, err := roomAt(d.layout.sandboxes())
	if err != nil {
		return 0, fmt.Errorf("look at the disk: %w", err)
	}
	return room, nil
}

func roomAt(dir string) (int64, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return 0, err
	}
	block := stat.Bsize
	reserve := min(maxReserve, int64(stat.Blocks)*block/reserveShare)
	return max(0, int64(stat.Bavail)*block-reserve), nil
}
