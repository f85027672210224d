package kernel

import (
	"bytes"
	"errors"
	"os"
	"syscall"
	"time"

	"sandgate/sandboxclient/wire"
)

const (
	// pace is how long a reader lets small writes gather: a wake-up for every
	// printed line would cost more than the printing.
	pace = 3 * time.Millisecond
	// gathered is what is worth an event of its own at once.
	gathered = 4 << 10
	// maxPipe is the most that a pipe may hold, as far as its writer can say.
	maxPipe = 1 << 20
)

// longAgo is a deadline that has passed.
var longAgo = time.Unix(1, 0)

// A tap reads one output pipe.
type tap struct {
	file *os.File
	from string
	ch   chan incoming

	park   chan struct{} // asks the reader to leave the pipe alone
	parked chan struct{}
	resume chan struct{}
}

func newTap(file *os.File, from string, ch chan incoming) *tap {
	return &tap{
		file:   file,
		from:   from,
		ch:     ch,
		park:   make(chan struct{}, 1),
		parked: make(chan struct{}),
		resume: make(chan struct{}),
	}
}

// read ends with the pipe.
func (t *tap) read() {
	defer func() {
		t.file.Close()
		t.ch <- incoming{from: t.from, ended: true}
	}()
	buf := make([]byte, wire.MaxChunk)
	for {
		n, err := t.file.Read(buf)
		if n > 0 {
			t.ch <- t.chunk(buf[:n])
		}
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			<-t.park
			t.standAside()
		case err != nil:
			return
		case n < gathered:
			t.gather()
		}
	}
}

func (t *tap) chunk(data []byte) incoming {
	return incoming{from: t.from, chunk: bytes.Clone(data)}
}

// gather waits a little, but not when somebody wants to see what is there.
func (t *tap) gather() {
	timer := time.NewTimer(pace)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.park:
		t.standAside()
	}
}

func (t *tap) standAside() {
	t.parked <- struct{}{}
	<-t.resume
}

// drain hands on all that was written to the pipe before the call, and what
// else arrives meanwhile. The caller is the one who receives from the channel.
func (t *tap) drain(accept func(incoming)) {
	if !t.takeOver(accept) {
		return
	}
	t.readAll(accept)
	t.resume <- struct{}{}
}

// takeOver stops the reader; false when it has come to the end of the pipe.
func (t *tap) takeOver(accept func(incoming)) bool {
	if t.file.SetReadDeadline(longAgo) != nil {
		return false
	}
	t.park <- struct{}{}
	for {
		select {
		case got := <-t.ch:
			accept(got)
			if got.ended && got.from == t.from {
				return false
			}
		case <-t.parked:
			_ = t.file.SetReadDeadline(time.Time{}) // it is open, as its reader is there
			return true
		}
	}
}

// readAll reads until the pipe is empty, or as much as it can have held: a
// writer in the background may be faster than we are.
func (t *tap) readAll(accept func(incoming)) {
	buf := make([]byte, wire.MaxChunk)
	for total := 0; total < maxPipe; {
		n := t.readNow(buf)
		if n <= 0 {
			return
		}
		accept(t.chunk(buf[:n]))
		total += n
	}
}

// readNow reads without waiting; 0 or less when there is nothing.
func (t *tap) readNow(buf []byte) int {
	n := 0
	raw, err := t.file.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Read(func(fd uintptr) bool {
		n, _ = syscall.Read(int(fd), buf)
		return true
	})
	return n
}
