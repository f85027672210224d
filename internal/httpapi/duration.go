package httpapi

import (
	"math"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"sandgate/sandboxclient"
)

// longestDuration is more than any limit of ours, and far from overflowing.
const longestDuration = 366 * 24 * time.Hour

// QueryDuration reads a duration from the query: seconds (2, 0.5) or a Go
// duration (1500ms). It is 0 when the parameter is not there.
func QueryDuration(c echo.Context, name string) (time.Duration, error) {
	text, ok := Query(c, name)
	if !ok {
		return 0, nil
	}
	d, ok := ParseDuration(text)
	if !ok {
		return 0, sandboxclient.Errorf(sandboxclient.CodeInvalid,
			"%s is a duration above 0 and below a year: seconds such as 2 or 0.5, or 1500ms, 2m", name)
	}
	return d, nil
}

// ParseDuration reads seconds (2, 0.5) or a Go duration (1500ms); it is false for
// what is neither, not above 0, or a year and more.
func ParseDuration(text string) (time.Duration, bool) {
	d, err := time.ParseDuration(text)
	if err != nil {
		seconds, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(seconds) || math.Abs(seconds) > longestDuration.Seconds() {
			return 0, false
		}
		d = time.Duration(seconds * float64(time.Second))
	}
	return d, d > 0 && d <= longestDuration
}
