package main

import (
	"strconv"
	"time"

	"sandgate/internal/httpapi"
)

// A span is a time that reads like 90s, 36h or 30d.
type span time.Duration

// Set implements pflag.Value.
func (s *span) Set(text string) error {
	d, err := httpapi.ParseDays(text)
	if err != nil {
		return err
	}
	*s = span(d)
	return nil
}

// String implements pflag.Value: in days where they are all of it, and without
// the zeros of smaller units.
func (s *span) String() string {
	const day = 24 * time.Hour
	switch d := time.Duration(*s); {
	case d == 0:
		return "0" // which --help leaves out
	case d > 0 && d%day == 0:
		return strconv.Itoa(int(d/day)) + "d"
	case d > 0 && d%time.Hour == 0:
		return strconv.Itoa(int(d/time.Hour)) + "h"
	case d > 0 && d%time.Minute == 0:
		return strconv.Itoa(int(d/time.Minute)) + "m"
	default:
		return d.String()
	}
}

// Type implements pflag.Value.
func (s *span) Type() string { return "duration" }
