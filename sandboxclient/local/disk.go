package local

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"sandgate/sandboxclient"
)

// Disks give workspaces a size: each is a file system of its own in a sparse
// file, mounted through a loop device.
type disks struct {
	layout layout
	log    *slog.Logger

	mu      sync.Mutex
	blanks  map[int64]bool // sizes of which there is an empty image to copy
	refused error          // why this host cannot mount images; nil when it can, or when that is unknown
	proven  bool           // it can
}

func newDisks(l layout, log *slog.Logger) *disks {
	return &disks{layout: l, log: log, blanks: map[int64]bool{}}
}

// open makes a workspace of a size, or mounts the one that is there. A workspace
// that is a plain directory, made by a gateway that gave no sizes or on a host
// that cannot, stays one. The size of one that exists stays what it is.
func (d *disks) open(ctx context.Context, id sandboxclient.ID, size int64) error {
	dir, image := d.layout.workspace(id), d.layout.image(id)
	if err := makeWorkspace(dir); err != nil {
		return err
	}
	if mounted(dir) {
		return nil // by a gateway that was killed
	}
	if there, err := exists(image); err != nil {
		return err
	} else if there {
		return mountImage(ctx, image, dir)
	}
	if plain, err := occupied(dir); err != nil || plain || size == 0 {
		return err
	}
	if able, err := d.able(ctx); err != nil || !able {
		return err
	}
	if room, err := roomAt(d.layout.sandboxes()); err != nil || room == 0 {
		return errors.Join(err, unix.ENOSPC)
	}
	blank, err := d.blank(ctx, size)
	if err != nil {
		return err
	}
	if err := copyImage(blank, image); err != nil {
		return err
	}
	return mountImage(ctx, image, dir)
}

// exists says whether there is something at a path, or that nobody knows.
func exists(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// close unmounts a workspace, and removes it if asked: what it holds need not
// reach the disk then.
func (d *disks) close(ctx context.Context, id sandboxclient.ID, workspace sandboxclient.Workspace) error {
	dir, image := d.layout.workspace(id), d.layout.image(id)
	there, err := exists(image)
	if err != nil {
		return err
	}
	if there && mounted(dir) {
		if workspace == sandboxclient.RemoveWorkspace {
			abandon(dir)
		}
		if err := d.unmount(ctx, dir); err != nil {
			return err
		}
	}
	if workspace == sandboxclient.KeepWorkspace {
		return nil
	}
	if err := errors.Join(removeFile(image), removeFile(image+".new")); err != nil {
		return err
	}
	return removeTree(ctx, dir)
}

func (d *disks) unmount(ctx context.Context, dir string) error {
	lazy, err := unmount(ctx, dir)
	if lazy {
		d.log.WarnContext(ctx, "somebody on this host still uses a workspace: it is out of sight, and its loop device goes with them", "dir", dir)
	}
	return err
}

// able tries whether this host mounts images, until it is known: only what the
// host will say again means that it cannot. An error is one of the attempt.
func (d *disks) able(ctx context.Context) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.proven || d.refused != nil {
		return d.proven, nil
	}
	err := d.try(ctx)
	d.proven = err == nil
	if errors.Is(err, errNoLoop) || errors.Is(err, errNoMount) {
		d.refused = err
		return false, nil
	}
	return d.proven, err
}

// try mounts a small image and unmounts it again.
func (d *disks) try(ctx context.Context) error {
	dir, err := os.MkdirTemp(d.layout.run(), tryPrefix)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	image, at := filepath.Join(dir, "img"), filepath.Join(dir, "mnt")
	if err := errors.Join(makeImage(ctx, image, minImage), os.Mkdir(at, 0o700)); err != nil {
		return err
	}
	if err := mountImage(ctx, image, at); err != nil {
		return err
	}
	return d.unmount(ctx, at)
}

// tryPrefix names the directories of try.
const tryPrefix = "try-"

// sweep clears what a gateway left that was killed while it tried.
func (d *disks) sweep(ctx context.Context) error {
	left, _ := filepath.Glob(filepath.Join(d.layout.run(), tryPrefix+"*")) // fails for malformed patterns only
	for _, dir := range left {
		if err := errors.Join(d.unmount(ctx, filepath.Join(dir, "mnt")), os.RemoveAll(dir)); err != nil {
			return err
		}
	}
	return nil
}

// blank gives an empty image to copy, which is ten times as quick as making one.
func (d *disks) blank(ctx context.Context, size int64) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	path := d.layout.blank(size)
	if _, err := os.Lstat(path); err == nil && d.blanks[size] {
		return path, nil
	}
	if err := makeImage(ctx, path, size); err != nil {
		return "", errors.Join(err, removeFile(path))
	}
	d.blanks[size] = true
	return path, nil
}
