package npmmirror

import (
	"net/http"
	"net/url"
	"strings"
)

// maxName is npm's own bound, with room for what it was before.
const maxName = 256

// A resource is what one request asks for.
type resource struct {
	name string // of the package, "@scope/name" perhaps
	file string // of the tarball; empty: the package's document
	full bool   // of a document: all of it, not what installing needs
}

// parse reads a request for a document or a tarball.
func parse(r *http.Request) (resource, bool) {
	parts := strings.Split(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
	for i, part := range parts {
		plain, err := url.PathUnescape(part)
		if err != nil {
			return resource{}, false
		}
		parts[i] = plain
	}
	res := resource{full: !strings.Contains(r.Header.Get("Accept"), abbreviated)}
	rest := res.takeName(parts)
	switch {
	case r.URL.RawQuery != "" || !validName(res.name):
		return resource{}, false
	case len(rest) == 0:
		return res, true
	case len(rest) == 2 && rest[0] == "-" && validPart(rest[1]) && strings.HasSuffix(rest[1], ".tgz"):
		res.file = rest[1]
		return res, true
	}
	return resource{}, false
}

// takeName gives the parts behind the name. npm writes the slash of a scoped
// name as %2f in some places and plainly in others.
func (res *resource) takeName(parts []string) []string {
	name, rest := parts[0], parts[1:]
	if strings.HasPrefix(name, "@") && !strings.Contains(name, "/") && len(rest) > 0 {
		name, rest = name+"/"+rest[0], rest[1:]
	}
	res.name = name
	return rest
}

func validName(name string) bool {
	scope, base, scoped := strings.Cut(name, "/")
	if !scoped {
		return len(name) <= maxName && validPart(name)
	}
	scope, at := strings.CutPrefix(scope, "@")
	return len(name) <= maxName && at && validPart(scope) && validPart(base)
}

// validPart takes what a package's name may be made of, old ones included, and
// nothing that means anything in a path.
func validPart(part string) bool {
	if part == "" || part[0] == '.' || part[0] == '-' || len(part) > maxName {
		return false
	}
	for _, c := range []byte(part) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && !strings.ContainsRune("-._~!'()*+", rune(c)) {
			return false
		}
	}
	return true
}

// path gives the resource's path below a registry's.
func (res resource) path() string {
	scope, base, scoped := strings.Cut(res.name, "/")
	switch {
	case res.file != "":
		return res.name + "/-/" + res.file
	case scoped:
		return scope + "%2f" + base
	}
	return res.name
}

// key names the resource in the cache.
func (res resource) key() string {
	if res.file == "" && res.full {
		return res.path() + " full"
	}
	return res.path()
}
