package search

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"sandgate/internal/httpapi"
	"sandgate/sandboxclient"
)

// Bounds on what can be asked.
const (
	maxTerm    = 16 << 10 // bytes
	maxMatches = 10_000
	maxContext = 20 // lines
	maxGlobs   = 32
	maxGlob    = 255 // bytes, as long as a name can be
)

// A query is what is searched for, where, and how.
type query struct {
	term       string
	path       string // absolute, inside /workspace
	fixed      bool   // the term stands for itself
	ignoreCase bool
	word       bool
	include    []string // names of files; empty: all
	exclude    []string // names of files and directories
	context    int      // lines around each match
	most       int      // matches
	timeout    time.Duration
}

// question reads a query from a request.
func question(c echo.Context) (query, error) {
	q := query{
		include: httpapi.QueryAll(c, "include"),
		exclude: httpapi.QueryAll(c, "exclude"),
	}
	var err error
	for _, option := range []struct {
		name string
		on   *bool
	}{{"fixed", &q.fixed}, {"ignoreCase", &q.ignoreCase}, {"word", &q.word}} {
		if *option.on, err = httpapi.QueryBool(c, option.name); err != nil {
			return query{}, err
		}
	}
	q.term, _ = httpapi.Query(c, "q")
	if err := checkTerm(q.term); err != nil {
		return query{}, err
	}
	if err := checkGlobs("include", q.include); err != nil {
		return query{}, err
	}
	if err := checkGlobs("exclude", q.exclude); err != nil {
		return query{}, err
	}
	path, _ := httpapi.Query(c, "path")
	var inside bool
	if q.path, inside = sandboxclient.ResolveWorkspacePath(path); !inside {
		return query{}, invalid("Paths must stay inside /workspace")
	}
	if q.context, err = httpapi.QueryNumber(c, "context", 0, maxContext, 0); err != nil {
		return query{}, err
	}
	if q.most, err = httpapi.QueryNumber(c, "maxMatches", 1, maxMatches, maxMatches); err != nil {
		return query{}, err
	}
	q.timeout, err = httpapi.QueryDuration(c, "timeout")
	return q, err
}

func invalid(format string, args ...any) error {
	return sandboxclient.Errorf(sandboxclient.CodeInvalid, format, args...)
}

func checkTerm(term string) error {
	switch {
	case strings.ContainsRune(term, 0):
		return invalid("The term cannot hold a NUL byte")
	case !utf8.ValidString(term):
		return invalid("The term must be UTF-8")
	case len(term) > maxTerm:
		return invalid("The term is longer than %d bytes", maxTerm)
	}
	return nil
}

// checkGlobs refuses patterns that would never match, or not what was meant.
func checkGlobs(name string, globs []string) error {
	if len(globs) > maxGlobs {
		return invalid("%s can be given %d times at most", name, maxGlobs)
	}
	for _, glob := range globs {
		switch {
		case glob == "" || len(glob) > maxGlob:
			return invalid("%s is a pattern of names, such as *.go, of 1 to %d bytes", name, maxGlob)
		case strings.ContainsAny(glob, "/\x00"):
			return invalid("%s is a pattern of names, such as *.go, and holds no slash; path says where to search", name)
		case !utf8.ValidString(glob):
			return invalid("%s must be UTF-8", name)
		}
	}
	return nil
}
