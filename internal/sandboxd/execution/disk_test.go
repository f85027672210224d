package execution

import (
	"errors"
	"os"
	"sync"
	"syscall"
)

// A fakeDisk is a file system in memory that can fail.
type fakeDisk struct {
	mu     sync.Mutex
	size   int64
	user   int64 // bytes of the user's files
	files  map[*fakeFile]bool
	broken bool // writes fail, though there is room
	spoilt bool // what is read is not what was written
	block  chan struct{}
}

type fakeFile struct {
	disk *fakeDisk
	data []byte
}

func (d *fakeDisk) free() int64 {
	free := d.size - d.user
	for f := range d.files {
		free -= int64(len(f.data))
	}
	return free
}

// left is what is free.
func (d *fakeDisk) left() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.free()
}

// opened counts files.
func (d *fakeDisk) opened() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.files)
}

func (d *fakeDisk) look(string) (size, free int64, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.size, d.free(), nil
}

func (d *fakeDisk) create(string) (file, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.broken {
		return nil, syscall.EIO
	}
	f := &fakeFile{disk: d}
	d.files[f] = true
	return f, nil
}

func (f *fakeFile) WriteAt(p []byte, at int64) (int, error) {
	d := f.disk
	if d.block != nil {
		<-d.block
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case !d.files[f]:
		return 0, os.ErrClosed
	case d.broken:
		return 0, syscall.EIO
	}
	n := int(min(int64(len(p)), d.free())) // what is there already is written anew, which is less than it takes
	f.data = append(f.data[:at], p[:n]...)
	if n < len(p) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

func (f *fakeFile) ReadAt(p []byte, at int64) (int, error) {
	d := f.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.files[f] {
		return 0, os.ErrClosed
	}
	n := copy(p, f.data[at:])
	if d.spoilt && n > 0 {
		p[n/2] ^= 1
	}
	return n, nil
}

func (f *fakeFile) Close() error {
	d := f.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.files[f] {
		return errors.New("closed twice")
	}
	delete(d.files, f)
	return nil
}

func (d *fakeDisk) breakOrMend() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.broken = !d.broken
}

func (d *fakeDisk) spoilOrMend() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.spoilt = !d.spoilt
}

// fill lets the user's files leave so much free.
func (d *fakeDisk) fill(leave int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.user += d.free() - leave
}

// newFakeDisk makes a disk of which logs may have limit bytes.
func newFakeDisk(limit, block int64) (*disk, *fakeDisk) {
	fake := &fakeDisk{size: limit * diskShare, files: make(map[*fakeFile]bool)}
	return &disk{
		block: block, maxFiles: maxFiles,
		create: fake.create, look: fake.look, giveWay: func() bool { return false },
	}, fake
}

// forgive lets so much time pass that the disk is tried again.
func (d *disk) forgive() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refused = d.refused.Add(-patience)
}
