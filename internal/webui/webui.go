// Package webui serves the pages under /app/: one application in the browser
// for all apps, built from web/ and embedded here.
//
// The pages talk to the same API as everybody else and ask nobody but this
// gateway: their content security policy allows no other origin, no inline
// script and no eval. What users' code displays as HTML is shown in a frame of
// an origin of its own (see frame.go).
//
// A gateway that was built without the pages, by go build alone, says so under
// /app/ and does everything else.
package webui

import (
	"bytes"
	"crypto/rand"
	"embed"
	"errors"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

// Prefix is where the pages are.
const Prefix = "/app/"

//go:embed all:dist
var built embed.FS

//go:embed missing.html
var missing []byte

// noncePlace is where index.html wants the nonce of its style elements, which
// the editor makes at run time.
var noncePlace = []byte("%nonce%")

// Pages answers for everything under Prefix.
type Pages struct {
	files fs.FS
	index []byte // with noncePlace in it
	found bool   // the pages were built in
}

// New gives the pages that were built in.
func New() *Pages {
	files, err := fs.Sub(built, "dist")
	if err != nil {
		panic(err) // the name above is wrong
	}
	return newPages(files)
}

func newPages(files fs.FS) *Pages {
	index, err := fs.ReadFile(files, "index.html")
	if errors.Is(err, fs.ErrNotExist) {
		return &Pages{files: files, index: missing}
	}
	return &Pages{files: files, index: index, found: true}
}

// ServeHTTP answers with an asset, the frame or, for every other path, the
// application, which knows what the path means.
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(path.Clean(r.URL.Path), strings.TrimSuffix(Prefix, "/"))
	name = strings.TrimPrefix(name, "/")
	switch {
	case name == frameName:
		serveFrame(w, r)
	case strings.HasPrefix(name, "assets/"):
		p.serveAsset(w, r, name)
	default:
		p.serveIndex(w, r)
	}
}

// serveIndex answers with the application. It is asked for anew each time; what
// it loads never changes.
func (p *Pages) serveIndex(w http.ResponseWriter, r *http.Request) {
	nonce := rand.Text()
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", policy(nonce))
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cache-Control", "no-store")
	if r.Method == http.MethodHead {
		return
	}
	_, _ = w.Write(bytes.ReplaceAll(p.index, noncePlace, []byte(nonce)))
}

// policy is what the pages may load: themselves.
func policy(nonce string) string {
	return strings.Join([]string{
		"default-src 'none'",
		"script-src 'self'",
		"style-src 'self' 'nonce-" + nonce + "'",
		"img-src 'self' data: blob:",
		"font-src 'self'",
		"connect-src 'self'",
		"frame-src 'self'",
		"base-uri 'none'",
		"form-action 'none'",
		"frame-ancestors 'none'",
	}, "; ")
}
