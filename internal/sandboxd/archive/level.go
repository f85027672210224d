package archive

import (
	"errors"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// A level is a directory of a tree that entries are being made in. It is given
// its mode and time when the last of them is made, since each changes the latter.
type level struct {
	directory
	name   string
	mode   uint32
	mtime  unix.Timespec
	found  bool                // it was there before, so that not all names in it are known
	names  map[string]struct{} // of what was made in it
	held   atomic.Int32
	ending func(error) // is told what went wrong in the end
}

func newLevel(dir directory, name string, ending func(error)) *level {
	l := &level{directory: dir, name: name, mode: newDirMode, names: make(map[string]struct{}), ending: ending}
	l.held.Store(1)
	return l
}

// hold keeps the directory open until release.
func (l *level) hold() { l.held.Add(1) }

// release lets the directory go; the last one ends it.
func (l *level) release() {
	if l.held.Add(-1) > 0 {
		return
	}
	l.ending(errors.Join(setTimespec(l.directory, ".", l.mtime), unix.Fchmod(l.fd, l.mode), l.Close()))
}

// claim notes that an entry is about to be made, and says whether there may be
// one of its name already.
func (l *level) claim(name string) (taken bool) {
	_, taken = l.names[name]
	l.names[name] = struct{}{}
	return taken || l.found
}
