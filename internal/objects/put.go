package objects

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"syscall"
)

// Put keeps what content gives until its end under the key, in place of what
// was there. When it returns without an error, the object survives a loss of
// power. When content fails, or ctx ends, the former object stays.
func (l *Local) Put(ctx context.Context, key string, content io.Reader) (Info, error) {
	if err := errors.Join(CheckKey(key), context.Cause(ctx)); err != nil {
		return Info{}, err
	}
	temporary := path.Join(unfinished, rand.Text())
	info, err := l.write(temporary, reader{ctx, io.NopCloser(content)})
	if err == nil {
		err = l.place(temporary, key)
	}
	if err != nil {
		_ = l.root.Remove(temporary)
		return Info{}, failure("put", key, err)
	}
	info.Key = key
	return info, nil
}

// write makes a file that is whole, whatever happens, when it returns.
func (l *Local) write(name string, content io.Reader) (Info, error) {
	f, err := l.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return Info{}, err
	}
	info, err := fill(f, name, content)
	return info, errors.Join(err, f.Close())
}

func fill(f *os.File, name string, content io.Reader) (Info, error) {
	if _, err := io.Copy(f, content); err != nil {
		return Info{}, err
	}
	if err := f.Sync(); err != nil {
		return Info{}, err
	}
	stat, err := f.Stat()
	if err != nil {
		return Info{}, err
	}
	return infoOf(name, stat), nil
}

// place gives a file its key and makes that last.
func (l *Local) place(temporary, key string) error {
	if err := l.rename(temporary, key); err != nil {
		return err
	}
	for folder := path.Dir(key); ; folder = path.Dir(folder) {
		if err := l.sync(folder); err != nil || folder == "." {
			return err
		}
	}
}

func (l *Local) rename(temporary, key string) error {
	l.folders.Lock()
	defer l.folders.Unlock()
	err := l.root.MkdirAll(path.Dir(key), 0o700)
	if err == nil {
		err = l.root.Rename(temporary, key)
	}
	if errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.EISDIR) || errors.Is(err, syscall.EEXIST) {
		return fmt.Errorf("%w: it, or a part of it, is the folder or the key of others: %w", ErrKey, err)
	}
	return err
}
