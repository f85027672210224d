package local

import (
	"context"
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"

	"sandgate/sandboxclient"
)

var _ sandboxclient.Roomer = (*Driver)(nil)

// maxReserve and its share of the disk are kept free, the smaller of the two:
// for the database, and for what programs write into workspaces and is not on
// the disk yet.
const (
	maxReserve   = 1 << 30
	reserveShare = 20
	// scarce is when what workspaces hold back is first brought to the disk: an
	// image takes its blocks late, and room that is promised already is none.
	scarce = 4 << 30
)

// Room is what may still be stored below the state directory.
func (d *Driver) Room(context.Context) (int64, error) {
	room, err := roomAt(d.layout.sandboxes())
	if err == nil && 0 < room && room < scarce { // on a full disk it could only be lost at once
		d.flush()
		room, err = roomAt(d.layout.sandboxes())
	}
	if err != nil {
		return 0, fmt.Errorf("look at the disk: %w", err)
	}
	return room, nil
}

// flush brings what was written into workspaces to the disk.
func (d *Driver) flush() {
	dirs, _ := filepath.Glob(filepath.Join(d.layout.sandboxes(), "*", "workspace")) // fails for malformed patterns only
	for _, dir := range dirs {
		if !mounted(dir) {
			continue
		}
		if err := syncDir(dir); err != nil {
			d.log.Error("a workspace lost what was written to it last: its disk is full or broken", "dir", dir, "error", err)
		}
	}
}

func syncDir(dir string) error {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Syncfs(fd)
}

func roomAt(dir string) (int64, error) {
	room, _, err := spaceAt(dir)
	return room, err
}

// spaceAt tells what may still be stored at a directory, and what is kept free
// beside that.
func spaceAt(dir string) (room, reserve int64, err error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return 0, 0, err
	}
	block := stat.Bsize
	reserve = min(maxReserve, int64(stat.Blocks)*block/reserveShare)
	return max(0, int64(stat.Bavail)*block-reserve), reserve, nil
}
