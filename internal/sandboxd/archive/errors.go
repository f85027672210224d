package archive

import (
	"errors"
	"io/fs"
	"syscall"

	"sandgate/sandboxclient/wire"
)

// explain turns what the system says into what a visitor can use. An error that
// is one of ours already stays as it is.
func explain(err error) error {
	if err == nil {
		return nil
	}
	if _, ours := errors.AsType[*wire.Error](err); ours {
		return err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fail(wire.CodeNotFound, "There is no such directory")
	case errors.Is(err, syscall.ENOTDIR):
		return fail(wire.CodeConflict, "The path is not a directory")
	case errors.Is(err, syscall.ELOOP), errors.Is(err, syscall.EXDEV):
		return fail(wire.CodeInvalid, "The path leads out of /workspace, or through too many links.")
	case errors.Is(err, syscall.ENAMETOOLONG):
		return fail(wire.CodeInvalid, "A name in the archive is longer than a file's may be, 255 bytes")
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fail(wire.CodeNoSpace, "No space is left in /workspace: a restore needs room for the new files beside the old ones")
	case errors.Is(err, syscall.EROFS):
		return fail(wire.CodeNoSpace, "The workspace's file system went read-only, as it does when the disk below it is full")
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.ENOMEM):
		return fail(wire.CodeExhausted, "The sandbox has too many open files")
	case errors.Is(err, syscall.ENOTEMPTY), errors.Is(err, syscall.EEXIST), errors.Is(err, syscall.EBUSY), errors.Is(err, syscall.EINVAL):
		return fail(wire.CodeConflict, "The directory changed while it was replaced; try again")
	}
	return err
}

// malformed is what an archive is that cannot be read to its end.
func malformed(err error) error {
	if _, ours := errors.AsType[*wire.Error](err); ours {
		return err
	}
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno
	}
	return fail(wire.CodeInvalid, "The body is no whole tar, plain or compressed by zstd or gzip")
}

// gone says that an entry was removed, or became something else, meanwhile.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ELOOP) ||
		errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENXIO)
}
