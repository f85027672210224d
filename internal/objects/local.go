package objects

import (
	"context"
	"errors"
	"io"
	"iter"
)

// Local is a store in a directory. Its methods may be called from many
// goroutines, but no other process may use the directory.
type Local struct{}

// Open opens the store in dir, makes the directory if it is not there, and
// removes what was being written when the gateway was killed.
func Open(dir string) (*Local, error) { return nil, errors.ErrUnsupported }

// Put keeps what content gives until its end under the key, in place of what
// was there. When it returns without an error, the object survives a loss of
// power. When content fails, or ctx ends, the former object stays.
func (l *Local) Put(ctx context.Context, key string, content io.Reader) (Info, error) {
	return Info{}, errors.ErrUnsupported
}

// Get reads an object from an offset, which may be its size, to its end; Size is
// the whole object's. The caller closes the reader, which goes on giving the
// same bytes when the object is replaced or deleted meanwhile, and ends with
// ctx.
func (l *Local) Get(ctx context.Context, key string, offset int64) (io.ReadCloser, Info, error) {
	return nil, Info{}, errors.ErrUnsupported
}

// Delete removes an object; one that is not there is no error.
func (l *Local) Delete(ctx context.Context, key string) error { return errors.ErrUnsupported }

// List gives the objects whose keys begin with prefix, by key. What is put or
// deleted meanwhile may be among them or not. After an error it ends.
func (l *Local) List(ctx context.Context, prefix string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) { yield(Info{}, errors.ErrUnsupported) }
}

// Close lets go of the directory. Readers that are open stay usable.
func (l *Local) Close() error { return nil }
