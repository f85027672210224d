package httpapi

import (
	"strings"

	"github.com/labstack/echo/v4"

	"sandgate/sandboxclient"
)

// OnlyQuery refuses a request whose query has a parameter that is not among
// names. One that is misspelt must not be ignored: something else would be done
// than what was asked for.
func OnlyQuery(names []string, next echo.HandlerFunc) echo.HandlerFunc {
	known := make(map[string]bool, len(names))
	for _, name := range names {
		known[name] = true
	}
	return func(c echo.Context) error {
		for name := range queryPairs(c) {
			if !known[name] {
				return unknownParameter(name, names)
			}
		}
		return next(c)
	}
}

func unknownParameter(name string, names []string) error {
	takes := "none"
	if len(names) > 0 {
		takes = strings.Join(names, ", ")
	}
	return sandboxclient.Errorf(sandboxclient.CodeInvalid,
		"There is no query parameter %.40q here; this route takes %s", name, takes)
}
