package main

import (
	"errors"
	"math"
	"strconv"

	"github.com/dustin/go-humanize"
)

// A size is a number of bytes that reads like 512MiB.
type size int64

// Set implements pflag.Value.
func (s *size) Set(text string) error {
	n, err := humanize.ParseBytes(text)
	if err != nil {
		return err
	}
	if n > math.MaxInt64 {
		return errors.New("size out of range")
	}
	*s = size(n)
	return nil
}

// String implements pflag.Value: the largest unit that makes a whole number.
func (s *size) String() string {
	n, unit := int64(*s), ""
	for _, next := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if n == 0 || n%1024 != 0 {
			break
		}
		n, unit = n/1024, next
	}
	return strconv.FormatInt(n, 10) + unit
}

// Type implements pflag.Value.
func (s *size) Type() string { return "size" }
