package kernel

import (
	"bytes"
	"io"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"sandgate/sandboxclient/wire"
)

// newPipeTap gives a tap that reads, and the end to write to.
func newPipeTap(t *testing.T) (*tap, *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	tp := newTap(r, wire.EventStdout, make(chan incoming))
	go tp.read()
	t.Cleanup(func() {
		w.Close()
		for in := range tp.ch {
			if in.ended {
				return
			}
		}
	})
	return tp, w
}

// unread is how much waits in a pipe.
func unread(f *os.File) int {
	raw, err := f.SyscallConn()
	if err != nil {
		return -1
	}
	n := -1
	_ = raw.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
	return n
}

func TestTap_drainHandsOnAllThatWasWritten(t *testing.T) {
	tp, w := newPipeTap(t)
	var got, want bytes.Buffer
	for i := range 300 {
		chunk := bytes.Repeat([]byte{byte('a' + i%26)}, 1+i*37%5000)
		want.Write(chunk)
		if _, err := w.Write(chunk); err != nil {
			t.Fatal(err)
		}
		tp.drain(func(in incoming) { got.Write(in.chunk) })
		if got.Len() != want.Len() {
			t.Fatalf("round %d: %d of %d bytes", i, got.Len(), want.Len())
		}
	}
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Error("the bytes are others, or in another order")
	}
}

func TestTap_drainOfAnEmptyPipe(t *testing.T) {
	tp, w := newPipeTap(t)
	for range 100 {
		tp.drain(func(in incoming) { t.Errorf("something arrived: %+v", in) })
	}
	if _, err := io.WriteString(w, "later"); err != nil {
		t.Fatal(err)
	}
	if in := <-tp.ch; string(in.chunk) != "later" {
		t.Errorf("after draining, %+v arrived", in)
	}
}

// A writer that never stops does not hold a drain up.
func TestTap_drainEnds(t *testing.T) {
	tp, w := newPipeTap(t)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for flood := make([]byte, 64<<10); ; {
			if _, err := w.Write(flood); err != nil {
				return
			}
		}
	}()
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		tp.drain(func(incoming) {})
	}()
	await(t, drained)
	w.Close()
	await(t, stopped)
}
