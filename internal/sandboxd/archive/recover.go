package archive

import (
	"errors"
	"strings"

	"golang.org/x/sys/unix"

	"sandgate/internal/sandboxd/workspace"
)

// Recover ends restores that were cut off: it looks for their journals at the
// top of the workspace. It must be called before anything else uses or sweeps
// the workspace. Whoever runs code here can make directories of such names, but
// none that belongs to root.
func Recover(dir string) error {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	a := &Archiver{root: directory{fd}}
	defer a.root.Close()
	names, err := a.root.names(maxEntries)
	if err != nil {
		return err
	}
	var failed error
	for _, name := range names {
		if strings.HasPrefix(name, workspace.Temporary) {
			failed = errors.Join(failed, a.resume(name))
		}
	}
	return failed
}

func (a *Archiver) resume(name string) error {
	opened, err := a.root.directory(name, itself)
	if err != nil {
		return nil // a file, or a link: nothing of ours
	}
	s := &staging{directory: opened, archiver: a, name: name}
	defer s.Close()
	var stat unix.Stat_t
	if err := unix.Fstat(s.fd, &stat); err != nil || int(stat.Uid) != unix.Geteuid() {
		return err
	}
	j, found, err := s.read()
	if err != nil || !found {
		return err
	}
	if j.In {
		return s.complete(j)
	}
	return s.undo()
}
