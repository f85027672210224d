package httpapi

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"sandgate/sandboxclient"
)

// longestDuration is more than any limit of ours, and far from overflowing.
const longestDuration = 366 * 24 * time.Hour

// QueryDuration reads a duration from the query, as ParseDuration does. It is 0
// when the parameter is not there.
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

// ParseDuration reads seconds (2, 0.5), or what ParseDays reads; it is false for
// what is neither, not above 0, or a year and more.
func ParseDuration(text string) (time.Duration, bool) {
	d, err := ParseDays(text)
	if err != nil {
		seconds, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(seconds) || math.Abs(seconds) > longestDuration.Seconds() {
			return 0, false
		}
		d = time.Duration(seconds * float64(time.Second))
	}
	return d, d > 0 && d <= longestDuration
}

// DecodeDuration reads from JSON what ParseDuration does, as a number of seconds or
// as text. It is 0 for nothing and null.
func DecodeDuration(value json.RawMessage) (time.Duration, bool) {
	text := strings.Trim(string(value), `"`)
	if text == "" || text == "null" {
		return 0, true
	}
	return ParseDuration(text)
}

// ParseDays reads a Go duration (1500ms, 36h) that may begin with a whole number
// of days (30d, 1d12h).
func ParseDays(text string) (time.Duration, error) {
	count, rest, ok := strings.Cut(text, "d")
	if !ok {
		return time.ParseDuration(text)
	}
	const mostDays = 100 * 366
	days, err := strconv.ParseUint(count, 10, 0)
	if err != nil || days > mostDays {
		return 0, fmt.Errorf("%q has no number of days that can be taken", text)
	}
	d := time.Duration(days) * 24 * time.Hour
	if rest == "" {
		return d, nil
	}
	more, err := time.ParseDuration(rest)
	if err != nil || more < 0 || more >= 24*time.Hour {
		return 0, fmt.Errorf("%q has no time of a day after the days", text)
	}
	return d + more, nil
}
