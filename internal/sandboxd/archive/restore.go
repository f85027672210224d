package archive

import (
	"context"
	"errors"
	"io"
	"path"
	"syscall"

	"golang.org/x/sys/unix"

	"sandgate/sandboxclient/wire"
)

// Names in the temporary directory of a restore.
const (
	unpacked = "new"
	replaced = "old"
)

// RestoreOptions say what is taken of an archive.
type RestoreOptions struct {
	MaxBytes int64 // of content; 0: the most that is ever unpacked
	Foreign  bool  // it was not packed here: links that lead out of it are refused
}

// Restore makes a directory an exact replica of the archive in body, in one
// step once all of it has come. Until then, and on any failure, the directory
// is as it was; one that was not there is made. A loss of power may take what was
// written last, until the gateway has brought the workspace to the disk.
func (a *Archiver) Restore(ctx context.Context, dir string, body io.Reader, o RestoreOptions) (wire.ArchiveInfo, error) {
	dir = path.Clean(dir)
	if err := a.check(dir); err != nil {
		return wire.ArchiveInfo{}, err
	}
	select {
	case a.turn <- struct{}{}:
		defer func() { <-a.turn }()
	case <-ctx.Done():
		return wire.ArchiveInfo{}, ctx.Err()
	}
	s, err := a.newStaging()
	if err != nil {
		return wire.ArchiveInfo{}, explain(err)
	}
	defer s.leave()
	info, err := a.unpack(ctx, s.directory, unpacked, body, o)
	if err == nil {
		err = s.place(ctx, dir)
	}
	return info, explain(err)
}

// check refuses what cannot be replaced by a directory.
func (a *Archiver) check(dir string) error {
	info, err := a.files.Stat(dir)
	if e, ours := errors.AsType[*wire.Error](err); ours && e.Code == wire.CodeNotFound {
		return nil
	}
	if err == nil && info.Type != wire.TypeDirectory {
		return fail(wire.CodeConflict, "The path is not a directory")
	}
	return err
}

// A staging is the directory that a restore works in. It is at the top of the
// workspace, and only root may look into it.
type staging struct {
	directory
	archiver *Archiver
	name     string
	keep     bool // what is in it will be needed when sandboxd starts again
}

func (a *Archiver) newStaging() (*staging, error) {
	s := &staging{archiver: a, name: a.files.Temporary()}
	stat, err := a.root.lstat(".")
	if err == nil {
		err = unix.Mkdirat(a.root.fd, s.name, 0o700)
	}
	if err == nil { // nobody is to see that it came
		err = setTimespec(a.root, ".", stat.Mtim)
	}
	if err != nil {
		return nil, err
	}
	if s.directory, err = a.root.directory(s.name, itself); err != nil {
		return nil, err
	}
	return s, nil
}

// leave removes what is left, of which the caller need not see the end.
func (s *staging) leave() {
	a := s.archiver
	err := s.Close()
	if s.keep {
		return
	}
	a.tidy.Go(func() {
		if err = errors.Join(err, a.files.Discard(a.ctx, s.name)); err != nil && a.ctx.Err() == nil {
			a.log.Warn("what a restore replaced was not removed; it is when sandboxd starts again")
		}
	})
}

// place lets the new tree take the directory's place.
func (s *staging) place(ctx context.Context, dir string) error {
	if err := ctx.Err(); err != nil { // the last chance to change one's mind
		return err
	}
	if dir == "." {
		return s.placeEntries()
	}
	if above := path.Dir(dir); above != "." {
		if _, err := s.archiver.files.Mkdir(above); err != nil {
			return err
		}
	}
	in, err := s.archiver.root.directory(path.Dir(dir), within)
	if err != nil {
		return err
	}
	defer in.Close()
	return s.exchange(in, path.Base(dir))
}

// exchange moves the new tree to where nothing is, or swaps it with the directory
// that is there.
func (s *staging) exchange(in directory, base string) error {
	for range attempts {
		stat, err := in.lstat(base)
		switch {
		case errors.Is(err, syscall.ENOENT):
			err = unix.Renameat2(s.fd, unpacked, in.fd, base, 0)
			if !errors.Is(err, syscall.ENOTEMPTY) && !errors.Is(err, syscall.ENOTDIR) {
				return err
			}
			continue // somebody made one meanwhile
		case err != nil:
			return err
		case !isDir(stat):
			return fail(wire.CodeConflict, "The path is not a directory")
		}
		err = s.archiver.swap(s.fd, unpacked, in.fd, base, unix.RENAME_EXCHANGE)
		if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.EOPNOTSUPP) {
			return fail(wire.CodeUnsupported, "The file system of the workspace cannot replace a directory in one step: "+
				"remove the directory first, or restore into another one. Nothing was changed")
		}
		if !errors.Is(err, syscall.ENOENT) {
			return err
		}
	}
	return syscall.EBUSY
}
