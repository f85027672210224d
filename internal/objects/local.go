package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"
	"syscall"
)

// unfinished is the folder of what is being written. Its name is no key.
const unfinished = ".unfinished"

// Local is a store in a directory. Its methods may be called from many
// goroutines, but no other process may use the directory.
type Local struct {
	root *os.Root

	// folders is held while a folder is made for an object or removed after its
	// last one, so that neither goes wrong by the other.
	folders sync.Mutex
}

// Open opens the store in dir, and makes the directory if it is not there.
func Open(dir string) (*Local, error) {
	root, err := openRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open object store: %w", err)
	}
	if err := root.Mkdir(unfinished, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		_ = root.Close()
		return nil, fmt.Errorf("open object store: %w", err)
	}
	return &Local{root: root}, nil
}

func openRoot(dir string) (*os.Root, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	parent, err := os.Open(filepath.Dir(dir))
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	if err := parent.Sync(); err != nil {
		return nil, err
	}
	return os.OpenRoot(dir)
}

// Sweep removes what was being written when the gateway was killed. It is called
// once it is known whose the store is, and before anything else is put.
func (l *Local) Sweep(context.Context) error {
	err := l.root.RemoveAll(unfinished)
	if err == nil {
		err = l.root.Mkdir(unfinished, 0o700)
	}
	if err != nil {
		return fmt.Errorf("sweep object store: %w", err)
	}
	return nil
}

// Close lets go of the directory. Readers that are open stay usable.
func (l *Local) Close() error { return l.root.Close() }

// Get reads an object from an offset, which may be its size, to its end; Size is
// the whole object's. The caller closes the reader, which goes on giving the
// same bytes when the object is replaced or deleted meanwhile, and ends with
// ctx.
func (l *Local) Get(ctx context.Context, key string, offset int64) (io.ReadCloser, Info, error) {
	if err := errors.Join(CheckKey(key), context.Cause(ctx)); err != nil {
		return nil, Info{}, err
	}
	f, err := l.root.OpenFile(key, os.O_RDONLY|syscall.O_NONBLOCK, 0) // to wait for nobody, should it be a pipe
	if isGone(err) {
		err = ErrNotExist
	}
	if err != nil {
		return nil, Info{}, failure("get", key, err)
	}
	info, err := seek(f, key, offset)
	if err != nil {
		_ = f.Close()
		return nil, Info{}, failure("get", key, err)
	}
	return reader{ctx, f}, info, nil
}

func seek(f *os.File, key string, offset int64) (Info, error) {
	stat, err := f.Stat()
	if err != nil {
		return Info{}, err
	}
	if !stat.Mode().IsRegular() {
		return Info{}, ErrNotExist
	}
	if offset < 0 || offset > stat.Size() {
		return Info{}, ErrOffset
	}
	_, err = f.Seek(offset, io.SeekStart)
	return infoOf(key, stat), err
}

func infoOf(key string, stat fs.FileInfo) Info {
	return Info{Key: key, Size: stat.Size(), Modified: stat.ModTime()}
}

// reader ends with its context.
type reader struct {
	ctx context.Context
	io.ReadCloser
}

func (r reader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.ReadCloser.Read(p)
}

// Delete removes an object, and the folders that are empty then; an object that
// is not there is no error.
func (l *Local) Delete(ctx context.Context, key string) error {
	if err := errors.Join(CheckKey(key), context.Cause(ctx)); err != nil {
		return err
	}
	folder, err := l.remove(key)
	if isGone(err) || errors.Is(err, syscall.ENOTEMPTY) {
		return nil
	}
	if err != nil {
		return failure("delete", key, err)
	}
	return failure("delete", key, l.sync(folder))
}

// remove gives the folder of what it removed last.
func (l *Local) remove(key string) (string, error) {
	l.folders.Lock()
	defer l.folders.Unlock()
	if err := l.root.Remove(key); err != nil {
		return "", err
	}
	folder := path.Dir(key)
	for folder != "." && l.root.Remove(folder) == nil { // it is not, unless it is empty
		folder = path.Dir(folder)
	}
	return folder, nil
}

// sync makes the names in a folder survive a loss of power. A folder that is
// gone by now has none.
func (l *Local) sync(folder string) error {
	f, err := l.root.Open(folder)
	if isGone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
