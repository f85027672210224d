package httpapi

import (
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"sandgate/sandboxclient"
)

// Query gives the first value of a query parameter and whether it is there. It
// reads queries as URLSearchParams in a browser does: & separates, + is a
// blank, and a % that begins no escape is a %. So no query is malformed, and
// none loses a parameter as net/url does with q=100% and path=a;b.
func Query(c echo.Context, name string) (string, bool) {
	for value := range queryValues(c, name) {
		return value, true
	}
	return "", false
}

// QueryBool reads a switch from the query; it is off when it is not there. Its name
// alone is on, but ?name= is what a script makes of a variable that is empty.
func QueryBool(c echo.Context, name string) (bool, error) {
	text, ok := Query(c, name)
	if !ok {
		return false, nil
	}
	if text == "" && slices.Contains(strings.Split(c.Request().URL.RawQuery, "&"), name) {
		return true, nil
	}
	on, err := strconv.ParseBool(text)
	if err != nil {
		return false, sandboxclient.Errorf(sandboxclient.CodeInvalid, "%s is true or false", name)
	}
	return on, nil
}

// QueryAll gives every value of a query parameter that may be repeated.
func QueryAll(c echo.Context, name string) []string { return slices.Collect(queryValues(c, name)) }

func queryValues(c echo.Context, name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for key, value := range queryPairs(c) {
			if key == name && !yield(unescape(value)) {
				return
			}
		}
	}
}

// queryPairs gives the parameters in their order, the values still escaped.
func queryPairs(c echo.Context) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for pair := range strings.SplitSeq(c.Request().URL.RawQuery, "&") {
			key, value, _ := strings.Cut(pair, "=")
			if pair != "" && !yield(unescape(key), value) {
				return
			}
		}
	}
}

// QueryNumber reads a whole number from the query. It is otherwise when the
// parameter is not there.
func QueryNumber(c echo.Context, name string, least, most, otherwise int) (int, error) {
	text, ok := Query(c, name)
	if !ok {
		return otherwise, nil
	}
	number, err := strconv.Atoi(text)
	if err != nil || number < least || number > most {
		return 0, sandboxclient.Errorf(sandboxclient.CodeInvalid, "%s is a whole number from %d to %d", name, least, most)
	}
	return number, nil
}

func unescape(s string) string {
	s = strings.ReplaceAll(s, "+", " ")
	if !strings.Contains(s, "%") {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if high, low, ok := escape(s[i:]); ok {
			out = append(out, high<<4|low)
			i += 2
			continue
		}
		out = append(out, s[i])
	}
	return string(out)
}

func escape(s string) (high, low byte, ok bool) {
	if len(s) < 3 || s[0] != '%' {
		return 0, 0, false
	}
	high, okHigh := hexDigit(s[1])
	low, okLow := hexDigit(s[2])
	return high, low, okHigh && okLow
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}
