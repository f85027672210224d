package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"syscall"

	"sandgate/sandboxclient/wire"
)

func fail(code, format string, args ...any) *wire.Error {
	return &wire.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

func invalid(format string, args ...any) error {
	return fail(wire.CodeInvalid, format, args...)
}

func outside() error { return invalid("Paths must stay inside /workspace") }

func isDirectory() error { return fail(wire.CodeConflict, "The path is a directory") }

func notDirectory() error {
	return fail(wire.CodeConflict, "A part of the path is not a directory")
}

// explain turns what the system says into what a visitor can use. An error that
// is one of ours already stays as it is.
func (w *Workspace) explain(err error) error {
	if err == nil {
		return nil
	}
	if _, ours := errors.AsType[*wire.Error](err); ours {
		return err
	}
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return fail(wire.CodeTooLarge, "The file is too large")
	}
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return w.explainErrno(errno, err)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return invalid("The body ended early.")
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return notFound()
	}
	return fmt.Errorf("workspace: %w", err)
}

func notFound() error { return fail(wire.CodeNotFound, "There is no such file or directory") }

func (w *Workspace) explainErrno(errno syscall.Errno, err error) error {
	switch errno {
	case syscall.ENOENT:
		return notFound()
	case syscall.ENOTDIR:
		return notDirectory()
	case syscall.EISDIR:
		return isDirectory()
	case syscall.EEXIST:
		return fail(wire.CodeConflict, "The path exists already")
	case syscall.ENOTEMPTY:
		return fail(wire.CodeConflict, "The directory is not empty")
	case syscall.EBUSY, syscall.ETXTBSY, syscall.EAGAIN:
		return fail(wire.CodeConflict, "The path is in use")
	case syscall.ENAMETOOLONG:
		return invalid("The path is too long.")
	case syscall.ELOOP:
		return invalid("The path holds too many symbolic links.")
	case syscall.EXDEV:
		return invalid("The path leads out of /workspace, or through a link that is absolute.")
	case syscall.EINVAL, syscall.EILSEQ:
		return invalid("The path is not valid here.")
	case syscall.ENXIO, syscall.ENODEV:
		return notRegular()
	case syscall.EACCES, syscall.EPERM:
		return fail(wire.CodeForbidden, "The file system does not permit it")
	case syscall.EROFS:
		// So it becomes when the disk below it was full; it is looked after when
		// the sandbox starts again.
		return fail(wire.CodeNoSpace, "The workspace's file system went read-only, as it does when the disk below it is full; it is checked when the sandbox starts again")
	case syscall.ENOSPC, syscall.EDQUOT:
		return fail(wire.CodeNoSpace, "No space is left in /workspace")
	case syscall.EFBIG:
		return fail(wire.CodeTooLarge, "The file is too large")
	case syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM:
		return fail(wire.CodeExhausted, "The sandbox has too many open files")
	}
	return fmt.Errorf("workspace: %w", err)
}

// errno gives what may be logged of an error: not the path, which is a user's.
func errno(err error) error {
	if e, ok := errors.AsType[syscall.Errno](err); ok {
		return e
	}
	return errors.New("unknown")
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func notRegular() error {
	return invalid("The path is neither a file nor a directory.")
}
