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

// unableHost says whether an error is the host's last word. Any other, as one of
// too many open files, may be gone at the next attempt.
func unableHost(err error) bool {
	for _, last := range []error{unix.ENOENT, unix.ENXIO, unix.ENODEV, unix.EPERM, unix.EACCES} {
		if errors.Is(err, last) {
			return true
		}
	}
	return false
}

// noLoop words what went wrong with loop devices.
func noLoop(what string, err error) error {
	if unableHost(err) {
		return fmt.Errorf("%w: %s: %w", errNoLoop, what, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// attachLoop makes a block device of an image file. An image that is attached
// already, in whatever mount namespace, keeps its one device: two of them would
// be two file systems in one file. The device goes when it is closed here and
// mounted nowhere.
func attachLoop(ctx context.Context, image *os.File) (*os.File, error) {
	if device := findLoop(image); device != nil {
		return device, nil
	}
	control, err := os.OpenFile(loopControl, os.O_RDWR, 0)
	if err != nil {
		return nil, noLoop("control", err)
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
		return nil, noLoop("find a free one", err)
	}
	device, err := openLoop(number)
	if err != nil {
		return nil, noLoop("open", err)
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
	return nil, noLoop("configure "+device.Name(), err)
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

// findLoop opens the device that an image is attached to, nil when there is none.
func findLoop(image *os.File) *os.File {
	// The end of the path is the same in every mount namespace.
	end := filepath.Join(filepath.Base(filepath.Dir(image.Name())), filepath.Base(image.Name()))
	backing, _ := filepath.Glob("/sys/block/loop*/loop/backing_file") // fails for malformed patterns only
	for _, path := range backing {
		text, err := os.ReadFile(path)
		if err != nil || !strings.HasSuffix(strings.TrimSpace(string(text)), end) {
			continue
		}
		name := filepath.Base(filepath.Dir(filepath.Dir(path)))
		device, err := os.OpenFile(filepath.Join("/dev", name), os.O_RDWR, 0)
		if err != nil {
			continue
		}
		// While it is open it stays attached: look again.
		if attachedTo(device, image) {
			return device
		}
		_ = device.Close()
	}
	return nil
}

func attachedTo(device, image *os.File) bool {
	var stat unix.Stat_t
	if unix.Fstat(int(image.Fd()), &stat) != nil {
		return false
	}
	info, err := unix.IoctlLoopGetStatus64(int(device.Fd()))
	return err == nil && info.Inode == stat.Ino && info.Device == stat.Dev
}

// attached says whether an image has a device.
func attached(image *os.File) bool {
	device := findLoop(image)
	return device != nil && device.Close() == nil
}
