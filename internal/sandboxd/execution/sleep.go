package execution

import (
	"crypto/rand"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

// A spilled file is nameless while anybody is there to see it. For a sleep it is
// given a name: a checkpoint holds no byte of a file with a name, but all of one
// without, and gVisor writes and reads those at no more than some 3 MB a second.
type spilled struct {
	dir string

	moving sync.RWMutex // held while the content becomes another file's

	mu     sync.Mutex
	file   file
	name   string // of it; empty while it has none
	closed bool
}

func (s *spilled) current() file {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.file
}

func (s *spilled) ReadAt(p []byte, off int64) (int, error) {
	s.moving.RLock()
	defer s.moving.RUnlock()
	return s.current().ReadAt(p, off)
}

func (s *spilled) WriteAt(p []byte, off int64) (int, error) {
	s.moving.RLock()
	defer s.moving.RUnlock()
	return s.current().WriteAt(p, off)
}

// Close waits for no disk.
func (s *spilled) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return errors.Join(s.unname(), s.file.Close())
}

// settle moves the file to one with a name.
func (s *spilled) settle() error {
	s.moving.Lock()
	defer s.moving.Unlock()
	if s.named() {
		return nil
	}
	name := filepath.Join(s.dir, hidden+"log-"+rand.Text())
	named, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, private)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.NewOffsetWriter(named, 0), io.NewSectionReader(s.current(), 0, math.MaxInt64))
	if err == nil {
		err = s.become(named, name)
	}
	if err != nil {
		return errors.Join(err, unix.Unlink(name), named.Close())
	}
	return nil
}

func (s *spilled) named() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.name != ""
}

// become fails when the file was closed meanwhile.
func (s *spilled) become(named file, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return os.ErrClosed
	}
	_ = s.file.Close() // its content is elsewhere
	s.file, s.name = named, name
	return nil
}

// rise takes the name away again.
func (s *spilled) rise() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unname()
}

// unname lets nobody find the file any more; somebody may have removed it. s.mu
// is held.
func (s *spilled) unname() error {
	if s.name == "" {
		return nil
	}
	name := s.name
	s.name = ""
	if err := unix.Unlink(name); err != nil && !errors.Is(err, unix.ENOENT) {
		return err
	}
	return nil
}

// each has all that lies on the disk settle or rise.
func (d *disk) each(do func(*spilled) error) (err error) {
	if d == nil {
		return nil
	}
	d.mu.Lock()
	held := make([]*spilled, 0, len(d.held))
	for _, s := range d.held {
		held = append(held, s)
	}
	d.mu.Unlock()
	for _, s := range held {
		if one := do(s); !errors.Is(one, os.ErrClosed) { // that is let go, which is as well
			err = errors.Join(err, one)
		}
	}
	return err
}

// Settle prepares for a sleep: what lies on the disk is made cheap to leave there.
func (r *Registry) Settle() error { return r.disk.each((*spilled).settle) }

// Rise undoes that, once the sandbox is awake.
func (r *Registry) Rise() error { return r.disk.each((*spilled).rise) }
