package sandboxclient

import (
	"errors"
	"io"
	"sync"
	"time"
)

// A watchedBody is read by the transport. It remembers why reading it failed,
// and tells a clock that it goes on.
type watchedBody struct {
	body    io.Reader
	silence *time.Timer

	mu  sync.Mutex
	err error
}

// Read implements io.Reader.
func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	b.silence.Reset(archiveSilence)
	if err != nil && !errors.Is(err, io.EOF) {
		b.mu.Lock()
		b.err = err
		b.mu.Unlock()
	}
	return n, err
}

func (b *watchedBody) failed() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}
