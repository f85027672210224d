package httpapi

import (
	"errors"
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

// durationWords say what ParseDuration takes.
const durationWords = "a duration above 0 and of at most a year: seconds such as 2 or 0.5, or 1500ms, 2m, 3d"

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
			"%s is %s", name, durationWords)
	}
	return d, nil
}

// ParseDuration reads seconds (2, 0.5), or what ParseDays reads; it is false for
// what is neither, not above 0, or more than a year.
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

// A Duration is read from JSON as ParseDuration reads it, from a number of seconds or
// from text. It is 0 for null and a text that is empty.
type Duration time.Duration

// UnmarshalJSON implements json.Unmarshaler.
func (d *Duration) UnmarshalJSON(value []byte) error {
	text := strings.Trim(string(value), `"`)
	if text == "" || text == "null" {
		return nil
	}
	read, ok := ParseDuration(text)
	if !ok {
		return errors.New("no duration")
	}
	*d = Duration(read)
	return nil
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
