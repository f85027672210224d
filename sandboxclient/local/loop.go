package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	loopControl  = "/dev/loop-control"
	loopMajor    = 7
	loopAttempts = 64
)

// errNoLoop says that this host gives no loop devices, as most containers.
var errNoLoop = errors.New("this host gives no loop devices")

// told wraps an error of the host as its last word, as cannot has it, if it is
// one. Any other, as one of too many open files, may be gone at the next attempt.
func told(cannot, err error) error {
	for _, last := range []error{unix.ENOENT, unix.ENXIO, unix.ENODEV, unix.EPERM, unix.EACCES} {
		if errors.Is(err, last) {
			return fmt.Errorf("%w: %w", cannot, err)
		}
	}
	return err
}

// attachLoop makes a block device of an image file. An image that is attached
// already, in whatever mount namespace, keeps its one device: two of them would
// be two file systems in one file. The device goes when it is closed here and
// mounted nowhere.
func attachLoop(ctx context.Context, image *os.File) (*os.File, error) {
	if device, err := findLoop(image); err != nil || device != nil {
		return device, err
	}
	control, err := os.OpenFile(loopControl, os.O_RDWR, 0)
	if err != nil {
		return nil, told(errNoLoop, err)
	}
	defer control.Close()
	for range loopAttempts {
		device, err := attachFree(control, image)
		if !errors.Is(err, unix.EBUSY) { // somebody else took it
			return device, err
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	return nil, errors.New("every free loop device was taken by somebody else")
}

// attachFree attaches an image to the device that the kernel says is free.
func attachFree(control, image *os.File) (*os.File, error) {
	number, err := unix.IoctlRetInt(int(control.Fd()), unix.LOOP_CTL_GET_FREE)
	if err != nil {
		return nil, told(errNoLoop, &os.PathError{Op: "find a free loop device", Path: loopControl, Err: err})
	}
	device, err := openLoop(number)
	if err != nil {
		return nil, told(errNoLoop, err)
	}
	// Direct: what is written inside is kept in memory once, not once more for
	// the image, and is counted as the sandbox's. Where the host's file system
	// cannot, the kernel does without.
	config := unix.LoopConfig{Fd: uint32(image.Fd())}
	config.Info.Flags = unix.LO_FLAGS_AUTOCLEAR | unix.LO_FLAGS_DIRECT_IO
	err = unix.IoctlLoopConfigure(int(device.Fd()), &config)
	if err == nil {
		return device, nil
	}
	_ = device.Close()
	if errors.Is(err, unix.EBUSY) {
		return nil, err
	}
	return nil, told(errNoLoop, &os.PathError{Op: "configure", Path: device.Name(), Err: err})
}

// openLoop opens a loop device. In a container /dev may lack the newer ones.
func openLoop(number int) (*os.File, error) {
	path := fmt.Sprintf("/dev/loop%d", number)
	device, err := os.OpenFile(path, os.O_RDWR, 0)
	if !errors.Is(err, fs.ErrNotExist) {
		return device, err
	}
	err = unix.Mknod(path, unix.S_IFBLK|0o600, int(unix.Mkdev(loopMajor, uint32(number))))
	if err != nil && !errors.Is(err, unix.EEXIST) {
		return nil, &os.PathError{Op: "mknod", Path: path, Err: err}
	}
	return os.OpenFile(path, os.O_RDWR, 0)
}

// findLoop opens the device that an image is attached to, nil when there is
// none. What cannot be looked at now is an error: it might be the one.
func findLoop(image *os.File) (*os.File, error) {
	// The end of the path is the same in every mount namespace.
	end := filepath.Join(filepath.Base(filepath.Dir(image.Name())), filepath.Base(image.Name()))
	disks, err := os.ReadDir("/sys/block")
	if err != nil && !gone(err) {
		return nil, err
	}
	for _, disk := range disks {
		text, err := os.ReadFile(filepath.Join("/sys/block", disk.Name(), "loop/backing_file"))
		if err != nil && !gone(err) {
			return nil, err
		}
		if !strings.HasSuffix(strings.TrimSpace(string(text)), end) {
			continue
		}
		device, err := openAttached(filepath.Join("/dev", disk.Name()), image)
		if err != nil || device != nil {
			return device, err
		}
	}
	return nil, nil
}

// openAttached opens a loop device if an image is attached to it. While it is
// open it stays attached.
func openAttached(path string, image *os.File) (*os.File, error) {
	device, err := os.OpenFile(path, os.O_RDWR, 0)
	if gone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	attached, err := attachedTo(device, image)
	if err == nil && attached {
		return device, nil
	}
	return nil, errors.Join(err, device.Close())
}

func attachedTo(device, image *os.File) (bool, error) {
	var stat unix.Stat_t
	if err := unix.Fstat(int(image.Fd()), &stat); err != nil {
		return false, err
	}
	info, err := unix.IoctlLoopGetStatus64(int(device.Fd()))
	if gone(err) {
		return false, nil
	}
	if err != nil {
		return false, &os.PathError{Op: "status", Path: device.Name(), Err: err}
	}
	return info.Inode == stat.Ino && info.Device == stat.Dev, nil
}

// gone says that a device, or what was attached to it, is not there, or not any
// more: a device that is let go of meanwhile gives all of these.
func gone(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENXIO) || errors.Is(err, unix.ENODEV) || errors.Is(err, unix.EINVAL)
}

// attached says whether an image has a device; in doubt it has.
func attached(image *os.File) bool {
	device, err := findLoop(image)
	return err != nil || device != nil && device.Close() == nil
}
