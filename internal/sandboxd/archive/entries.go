package archive

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"sandgate/internal/sandboxd/workspace"
	"sandgate/sandboxclient/wire"
)

// The workspace itself is a mount and cannot be exchanged. Its entries are moved
// out one by one, then the new ones in. A journal says which of the two is at
// work: who finds it as sandboxd starts moves what was moved out back, or the
// rest in, so that the workspace is the former or the new one.
const (
	journalName = "journal"
	maxJournal  = 4 << 10
	// passes bounds how often what others make meanwhile is moved out as well.
	passes = 8
)

// A journal is what has to be known to go on.
type journal struct {
	In    bool  `json:"in"` // the former entries are all out
	Mode  int64 `json:"mode"`
	MTime int64 `json:"mtime"` // nanoseconds since 1970
}

// hidden says whether an entry at the top of the workspace is not part of it.
func hidden(name string) bool {
	return strings.HasPrefix(name, workspace.Temporary)
}

// placeEntries replaces all of the workspace.
func (s *staging) placeEntries() error {
	top, err := s.lstat(unpacked)
	if err != nil {
		return err
	}
	if err := unix.Mkdirat(s.fd, replaced, 0o700); err != nil {
		return err
	}
	j := journal{Mode: int64(top.Mode & 0o1777), MTime: top.Mtim.Nano()}
	if err := s.write(j); err != nil {
		return err
	}
	if err := s.moveOut(); err != nil {
		return errors.Join(err, s.undo())
	}
	j.In = true
	if err := s.write(j); err != nil {
		return errors.Join(err, s.undo())
	}
	if err := s.complete(j); err != nil {
		s.keep = true
		return fail(wire.CodeInternal, "The restore was not completed; it is when the sandbox starts again")
	}
	return nil
}

// write puts the journal in place of the one before, whole.
func (s *staging) write(j journal) error {
	const unfinished = journalName + ".new"
	text, err := json.Marshal(j)
	if err != nil {
		return err
	}
	fd, err := s.open(unfinished, unix.O_WRONLY|unix.O_CREAT|unix.O_TRUNC, 0o600, itself)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), "")
	_, err = f.Write(text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return unix.Renameat(s.fd, unfinished, s.fd, journalName)
}

func (s *staging) read() (j journal, found bool, err error) {
	fd, err := s.open(journalName, unix.O_RDONLY|unix.O_NONBLOCK, 0, itself)
	if errors.Is(err, syscall.ENOENT) {
		return j, false, nil
	}
	if err != nil {
		return j, false, err
	}
	f := os.NewFile(uintptr(fd), "")
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxJournal))
	if err == nil {
		err = json.Unmarshal(text, &j)
	}
	return j, err == nil, err
}

// moveOut moves the entries of the workspace out, and those that programs make
// meanwhile.
func (s *staging) moveOut() error {
	old, err := s.directory.directory(replaced, itself)
	if err != nil {
		return err
	}
	defer old.Close()
	for range passes {
		moved, err := moveAll(s.archiver.root, old)
		if err != nil || moved == 0 {
			return err
		}
	}
	return nil
}

// undo moves what was moved out back in.
func (s *staging) undo() error {
	old, err := s.directory.directory(replaced, itself)
	if err == nil {
		defer old.Close()
		_, err = moveAll(old, s.archiver.root)
	}
	if err == nil {
		err = unix.Unlinkat(s.fd, journalName, 0)
	}
	s.keep = err != nil
	return err
}

// complete moves the new entries in.
func (s *staging) complete(j journal) error {
	tree, err := s.directory.directory(unpacked, itself)
	if err != nil {
		return err
	}
	defer tree.Close()
	if _, err := moveAll(tree, s.archiver.root); err != nil {
		return err
	}
	root := s.archiver.root
	return errors.Join(
		unix.Fchmod(root.fd, uint32(j.Mode&0o1777)),
		unix.Unlinkat(s.fd, journalName, 0),
		setTimespec(root, ".", unix.NsecToTimespec(j.MTime)),
	)
}

// moveAll moves all entries that count from one directory into another. What is
// in the way there moves aside, and is removed with the rest.
func moveAll(from, to directory) (moved int, err error) {
	names, err := from.names(maxEntries)
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		if hidden(name) {
			continue
		}
		if err := move(from, to, name); err != nil {
			return moved, err
		}
		moved++
	}
	return moved, nil
}

func move(from, to directory, name string) error {
	var err error
	for range attempts {
		err = unix.Renameat2(from.fd, name, to.fd, name, 0)
		switch {
		case err == nil || errors.Is(err, syscall.ENOENT):
			return nil
		case !errors.Is(err, syscall.ENOTEMPTY) && !errors.Is(err, syscall.EEXIST) &&
			!errors.Is(err, syscall.EISDIR) && !errors.Is(err, syscall.ENOTDIR):
			return err
		}
		// What is in the way goes to where the entry is, under a name by which nobody
		// takes it for one.
		aside := unix.Renameat2(to.fd, name, from.fd, workspace.Temporary+rand.Text(), 0)
		if aside != nil && !errors.Is(aside, syscall.ENOENT) {
			return aside
		}
	}
	return err
}
