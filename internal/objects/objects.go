package objects

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"
)

// What a caller may want to tell apart, by errors.Is.
var (
	ErrNotExist = errors.New("no such object")
	ErrNoSpace  = errors.New("no space left for objects")
	ErrKey      = errors.New("no key for an object")
	ErrOffset   = errors.New("the offset is not within the object")
)

// Info is what a store says about an object.
type Info struct {
	Key      string
	Size     int64
	Modified time.Time // when it was put, by the store's clock
}

// failure says what went wrong with an object.
func failure(doing, key string, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		err = fmt.Errorf("%w: %w", ErrNoSpace, err)
	}
	return fmt.Errorf("%s object %s: %w", doing, key, err)
}

// isGone tells that nothing is there, or that the folder is a file.
func isGone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
