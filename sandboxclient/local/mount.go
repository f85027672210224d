package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// errNoMount says that the kernel mounts no images.
var errNoMount = errors.New("this host does not mount file systems in files")

// mountImage mounts an image, after a repair if it needs one.
func mountImage(ctx context.Context, path, dir string) error {
	image, err := os.OpenFile(path, os.O_RDWR|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer image.Close()
	if hasErrors(image) && !attached(image) {
		if err := checkImage(ctx, path); err != nil {
			return err
		}
	}
	err = mountOnce(ctx, image, dir)
	if damaged(err) && !attached(image) {
		if err := checkImage(ctx, path); err != nil {
			return err
		}
		err = mountOnce(ctx, image, dir)
	}
	return err
}

// damaged says whether the kernel does not like the file system in an image.
func damaged(err error) bool {
	return errors.Is(err, unix.EUCLEAN) || errors.Is(err, unix.EBADMSG) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EIO)
}

func mountOnce(ctx context.Context, image *os.File, dir string) error {
	device, err := attachLoop(ctx, image)
	if err != nil {
		return err
	}
	defer device.Close()
	// Inode tables are zeroed as they are used, room that is freed goes back to
	// the host, and after an error nothing is written that would make it worse.
	err = unix.Mount(device.Name(), dir, "ext4", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOATIME,
		"noinit_itable,discard,errors=remount-ro")
	if err != nil {
		return told(errNoMount, fmt.Errorf("mount %s at %s: %w", image.Name(), dir, err))
	}
	hideLostFound(dir)
	return nil
}

// hideLostFound removes the directory that every new ext4 has, unless a repair
// has put something there, or it is the user's.
func hideLostFound(dir string) {
	path := filepath.Join(dir, "lost+found")
	var stat unix.Stat_t
	if unix.Lstat(path, &stat) == nil && stat.Uid == 0 {
		_ = unix.Rmdir(path)
	}
}

// mounted says whether something is mounted at a directory.
func mounted(dir string) bool {
	var stat unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, dir, unix.AT_SYMLINK_NOFOLLOW|unix.AT_STATX_DONT_SYNC, 0, &stat)
	return err == nil && stat.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0
}

// occupied says whether a directory holds anything.
func occupied(dir string) (bool, error) {
	f, err := openDir(unix.AT_FDCWD, dir)
	if err != nil {
		return false, err
	}
	defer f.Close()
	_, err = f.Readdirnames(1)
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	return err == nil, err
}

const (
	unmountPatience = 2 * time.Second
	unmountPoll     = 10 * time.Millisecond
)

// unmount unmounts whatever is mounted at a directory. What somebody on the host
// still uses is only taken out of sight, and goes when they let go of it; until
// then mountImage finds it again.
func unmount(ctx context.Context, dir string) (lazy bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, unmountPatience)
	defer cancel()
	tick := time.NewTicker(unmountPoll)
	defer tick.Stop()
	for mounted(dir) {
		err := unix.Unmount(dir, unix.UMOUNT_NOFOLLOW)
		if err == nil || errors.Is(err, unix.EINVAL) { // EINVAL: no longer mounted
			continue
		}
		if !errors.Is(err, unix.EBUSY) {
			return false, &os.PathError{Op: "unmount", Path: dir, Err: err}
		}
		select {
		case <-ctx.Done():
			return true, unix.Unmount(dir, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW)
		case <-tick.C:
		}
	}
	return false, nil
}

// abandon tells an ext4 that what it has not written yet need not be: its image
// is about to be removed.
func abandon(dir string) {
	const (
		ioctlShutdown = 0x8004587d // EXT4_IOC_SHUTDOWN
		noLogFlush    = 2
	)
	f, err := openDir(unix.AT_FDCWD, dir)
	if err != nil {
		return
	}
	defer f.Close()
	_ = unix.IoctlSetPointerInt(int(f.Fd()), ioctlShutdown, noLogFlush) // it is only slower without
}
