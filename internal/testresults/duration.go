package testresults

import (
	"math"
	"strconv"
	"strings"
)

// units are those that runners print, in milliseconds.
var units = map[string]float64{
	"ns": 1e-6, "μs": 1e-3, "µs": 1e-3, "ms": 1, "s": 1e3,
	"m": 60e3, "min": 60e3, "h": 3600e3, "d": 24 * 3600e3,
}

// duration reads "1.264 s", "97ms" or "2m" at the beginning of a text, in
// milliseconds; 0 when it is none.
func duration(text string) float64 {
	digits := len(text) - len(strings.TrimLeft(text, "0123456789."))
	unit, _, _ := strings.Cut(strings.TrimSpace(text[digits:]), " ")
	return milliseconds(text[:digits]) * units[strings.TrimRight(unit, ",)")]
}

// milliseconds reads a number that is a time; 0 when it is none.
func milliseconds(text string) float64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= 0 && n < 1e12) || math.IsInf(n, 0) {
		return 0
	}
	return n
}
