package runlog

import (
	"errors"
	"math"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	room  = int64(64<<10 + maxPrefix + 1) // kept for the last event
	ahead = int64(256 << 10)              // taken at once, so as to ask seldom
)

// reserve makes sure that the file can grow to a size, and by the last event
// beyond it, before anything is written.
func (l *Log) reserve(size int64) error {
	if size+room <= l.reserved {
		return nil
	}
	err := l.reserveUpTo(size + room + ahead)
	if isFull(err) {
		err = l.reserveUpTo(size + room)
	}
	if errors.Is(err, syscall.EOPNOTSUPP) { // this file system cannot: the disk has to do
		l.reserved = math.MaxInt64
		return nil
	}
	return err
}

func (l *Log) reserveUpTo(size int64) error {
	err := l.allocate(l.reserved, size-l.reserved)
	if err == nil {
		l.reserved = size
	}
	return err
}

// allocate takes blocks without making the file longer.
func (l *Log) allocate(offset, length int64) error {
	conn, err := l.file.SyscallConn()
	if err != nil {
		return err
	}
	var allocating error
	err = conn.Control(func(fd uintptr) {
		for {
			allocating = unix.Fallocate(int(fd), unix.FALLOC_FL_KEEP_SIZE, offset, length)
			if !errors.Is(allocating, syscall.EINTR) {
				return
			}
		}
	})
	return errors.Join(err, allocating)
}

func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
