package archive

import (
	"archive/tar"
	"errors"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A tree is one that grows from an archive. The directories on the way to the
// newest entry are open. Files are made by a crew, so that whoever needs others
// to be there waits for it.
type tree struct {
	in   directory // holds the top
	uid  int
	gid  int
	path []*level
	crew *crew
}

// plant makes the top.
func (t *tree) plant(in directory, name string, uid, gid int) error {
	t.in, t.uid, t.gid, t.crew = in, uid, gid, newCrew(uid, gid)
	return t.descend(name)
}

// close leaves all directories, and waits until everything is made.
func (t *tree) close() error {
	t.ascend(0)
	return t.crew.close()
}

// claim waits, where an entry of that name may be there or on its way.
func (t *tree) claim(name string) error {
	if len(t.path) == 0 || !t.path[len(t.path)-1].claim(name) {
		return nil
	}
	return t.crew.wait()
}

// descend goes into a directory of the newest one, which is made if need be.
func (t *tree) descend(name string) error {
	if len(t.path) > maxDepth {
		return refused(name, "it lies too deep")
	}
	if err := t.claim(name); err != nil {
		return err
	}
	in := t.newest()
	made := true
	err := unix.Mkdirat(in.fd, name, 0o700)
	if errors.Is(err, syscall.EEXIST) {
		made, err = false, nil
	}
	if err != nil {
		return err
	}
	dir, err := in.directory(name, itself)
	if errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP) {
		return refused(name, "entries lie in it, and it is no directory")
	}
	if err != nil {
		return err
	}
	l := newLevel(dir, name, t.crew.note)
	l.mtime = unix.NsecToTimespec(time.Now().UnixNano())
	t.path = append(t.path, l)
	if made {
		return unix.Fchown(dir.fd, t.uid, t.gid)
	}
	return l.remember()
}

// remember keeps what a directory that was left before had been given, and lets
// entries be made in it again.
func (l *level) remember() error {
	l.found = true
	var stat unix.Stat_t
	if err := unix.Fstat(l.fd, &stat); err != nil {
		return err
	}
	l.mode, l.mtime = stat.Mode&0o1777, stat.Mtim
	return unix.Fchmod(l.fd, 0o700)
}

func (t *tree) newest() directory {
	if len(t.path) == 0 {
		return t.in
	}
	return t.path[len(t.path)-1].directory
}

// ascend leaves directories until so many are open.
func (t *tree) ascend(depth int) {
	for len(t.path) > depth {
		l := t.path[len(t.path)-1]
		t.path = t.path[:len(t.path)-1]
		l.release()
	}
}

// enter makes the directory of that name, "." for the top, the newest.
func (t *tree) enter(name string) error {
	parts := split(name)
	same := 0
	for same < len(parts) && same+1 < len(t.path) && t.path[same+1].name == parts[same] {
		same++
	}
	t.ascend(same + 1)
	for _, part := range parts[same:] {
		if err := t.descend(part); err != nil {
			return err
		}
	}
	return nil
}

func split(name string) []string {
	if name == "." {
		return nil
	}
	return strings.Split(name, "/")
}

// directory makes a directory, or says what one is to be that was made for the
// sake of others.
func (t *tree) directory(name string, h *tar.Header) error {
	at, err := unix.TimeToTimespec(h.ModTime)
	if err != nil {
		return refused(name, "its time cannot be kept")
	}
	if err := t.enter(name); err != nil {
		return err
	}
	l := t.path[len(t.path)-1]
	l.mode, l.mtime = uint32(h.Mode&0o1777), at
	return nil
}

// parent makes the directory that an entry lies in the newest.
func (t *tree) parent(name string) (*level, string, error) {
	parts := split(name)
	above, base := ".", parts[len(parts)-1]
	if len(parts) > 1 {
		above = strings.Join(parts[:len(parts)-1], "/")
	}
	if err := t.enter(above); err != nil {
		return nil, "", err
	}
	return t.path[len(t.path)-1], base, t.claim(base)
}

// find opens the directory that holds an entry which is there, and leaves the
// newest the newest.
func (t *tree) find(name string) (directory, string, error) {
	if err := t.crew.wait(); err != nil {
		return directory{}, "", err
	}
	parts := split(name)
	if len(parts) == 0 {
		return directory{}, "", syscall.EISDIR
	}
	above := strings.Join(slices.Concat([]string{"."}, parts[:len(parts)-1]), "/")
	dir, err := t.path[0].directory.directory(above, itself)
	return dir, parts[len(parts)-1], err
}

// clear makes room for an entry of which an archive holds several: the last one
// counts, but none takes a directory's place.
func (t *tree) clear(in directory, base, name string) error {
	err := unix.Unlinkat(in.fd, base, 0)
	if errors.Is(err, syscall.EISDIR) || errors.Is(err, syscall.EPERM) {
		return refused(name, "it is a directory as well")
	}
	if errors.Is(err, syscall.ENOENT) {
		return nil
	}
	return err
}
