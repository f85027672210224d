package execution

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"
)

// Bounds of what all logs have on the disk together.
const (
	maxDisk   = 256 << 20
	diskShare = 8 // it is never more than this part of the file system
	maxFiles  = 128
	// Room is given back a segment at a time: this part of the whole, or a block.
	segmentShare = 32
	// patience is how long a disk that took nothing is left alone.
	patience = time.Second
)

// How often it is looked whether the user's own files need the room: before a
// program that writes a byte each nanosecond can use up what is spare.
const (
	closestLook  = 50 * time.Millisecond
	furthestLook = 2 * time.Second
)

// errRefused means that there is as much on the disk as may be.
var errRefused = errors.New("execution: no more room on the disk")

// A disk takes what memory has no room for, in files without a name: nobody
// sees them, and they go with sandboxd however it ends.
//
// It is the user's own disk. Nothing is put there before it must be, some of it
// always stays free, and what lies there gives way to what the user writes. A
// nil disk takes nothing.
type disk struct {
	dir      string
	block    int64 // is what is written at once, unless one event is more
	maxFiles int
	create   func(dir string) (file, error)
	look     func(dir string) (size, free int64, err error)
	giveWay  func() bool // lets a segment go, if there is any

	mu      sync.Mutex
	limit   int64 // 0 until somebody looked
	used    int64
	files   int
	refused time.Time // when it took nothing; zero once there is room again
	watched bool
	held    map[file]*spilled
}

// A file is what a segment needs of one.
type file interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
}

// newDisk uses a directory of the user's, if there is one.
func newDisk(dir string) *disk {
	if dir == "" {
		return nil
	}
	return &disk{dir: dir, block: maxBatch, maxFiles: spareFiles(), create: createNameless, look: lookAt}
}

// roomy says whether it is worth a try to put something there.
func (d *disk) roomy() bool {
	if d == nil {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.full() && time.Since(d.refused) >= patience
}

// crowded says whether logs have all that they may.
func (d *disk) crowded() bool {
	if d == nil {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.full()
}

func (d *disk) full() bool {
	return d.files >= d.maxFiles || d.limit > 0 && d.used+d.block > d.limit
}

// take claims room, which must be given back.
func (d *disk) take(bytes int64) error {
	size, free, err := d.look(d.dir)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err == nil {
		d.limit = min(maxDisk, size/diskShare)
	}
	if err != nil || free-bytes < d.limit/2 {
		d.refused = time.Now()
		return errors.Join(errRefused, err)
	}
	if d.used+bytes > d.limit {
		return errRefused
	}
	d.used += bytes
	if !d.watched {
		d.watched = true
		time.AfterFunc(closestLook, d.watch)
	}
	return nil
}

// give gives room back.
func (d *disk) give(bytes int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.used -= bytes
	d.refused = time.Time{}
}

// store writes a block behind the others of a segment, or into a new one.
func (d *disk) store(s *segment, b *block, data []byte) (*segment, error) {
	size := int64(len(data))
	if err := d.take(size); err != nil {
		return nil, err
	}
	s, err := d.write(s, b, data)
	switch {
	case errors.Is(err, os.ErrClosed):
		d.give(size)
	case err != nil:
		d.failed(size)
	}
	return s, err
}

func (d *disk) write(s *segment, b *block, data []byte) (*segment, error) {
	if s != nil {
		return s, s.write(b, data)
	}
	f, err := d.open()
	if err != nil {
		return nil, err
	}
	s = &segment{disk: d, file: f}
	if err := s.write(b, data); err != nil {
		d.close(f)
		return nil, err
	}
	return s, nil
}

// discard forgets a block that was stored and is wanted no more.
func (d *disk) discard(s *segment, b block) {
	if len(s.blocks) == 0 {
		d.close(s.file)
	}
	d.give(b.size)
}

// failed gives room back that the disk did not have after all.
func (d *disk) failed(bytes int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.used -= bytes
	d.refused = time.Now()
}

// open makes a file, unless there are too many.
func (d *disk) open() (file, error) {
	if !d.count(+1) {
		return nil, errRefused
	}
	f, err := d.create(d.dir)
	if err != nil {
		d.count(-1)
		return nil, err
	}
	s := &spilled{dir: d.dir, file: f}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.held == nil {
		d.held = make(map[file]*spilled)
	}
	d.held[s] = s
	return s, nil
}

func (d *disk) close(f file) {
	_ = f.Close() // nothing of it is to be kept
	d.mu.Lock()
	delete(d.held, f)
	d.mu.Unlock()
	d.count(-1)
}

func (d *disk) count(more int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.files+more > d.maxFiles {
		return false
	}
	d.files += more
	return true
}

// segmentSize is when a segment is full.
func (d *disk) segmentSize() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return max(d.limit/segmentShare, d.block)
}

// watch lets logs give way while the user is short of room: long after they
// stopped to take more. It goes on as long as anything lies on the disk.
func (d *disk) watch() {
	spare := d.spare()
	for spare < 0 && d.giveWay() {
		spare = d.spare()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.watched = d.used > 0; d.watched {
		time.AfterFunc(min(max(time.Duration(spare), closestLook), furthestLook), d.watch)
	}
}

// spare is what the user's files may still take before logs give way.
func (d *disk) spare() int64 {
	_, free, err := d.look(d.dir)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil {
		return 0 // to look again soon
	}
	return free - d.limit/4
}
