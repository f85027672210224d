package objects

import (
	"errors"
	"time"
)

// What a caller may want to tell apart, by errors.Is.
var (
	ErrNotExist = errors.New("no such object")
	ErrNoSpace  = errors.New("no space left for objects")
	ErrKey      = errors.New("no key for an object")
	ErrOffset   = errors.New("the offset is beyond the object's end")
)

// Info is what a store says about an object.
type Info struct {
	Key      string
	Size     int64
	Modified time.Time // when it was put, by the store's clock
}
