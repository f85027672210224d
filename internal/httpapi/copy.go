package httpapi

import (
	"io"
	"sync"
)

// copyBuffer is a piece large enough for a fast disk.
const copyBuffer = 128 << 10

var copyBuffers = sync.Pool{New: func() any { return new([copyBuffer]byte) }}

// Copy answers with a body of any size.
func Copy(w io.Writer, body io.Reader) error {
	buf := copyBuffers.Get().(*[copyBuffer]byte)
	defer copyBuffers.Put(buf)
	_, err := io.CopyBuffer(w, body, buf[:])
	return err
}
