package webui

import (
	_ "embed"
	"net/http"
	"strings"
)

// frameName is the document in which rich output is shown. It has no origin,
// so that nothing in it can read the gateway's pages, cookies or API; and it
// can load nothing, so that nothing leaves it. Scripts of the output run: plots
// need theirs.
const frameName = "frame"

//go:embed frame.html
var frame []byte

// framePolicy gives the document an origin of its own even when it is opened by
// itself.
var framePolicy = strings.Join([]string{
	"sandbox allow-scripts",
	"default-src 'none'",
	"script-src 'unsafe-inline'",
	"style-src 'unsafe-inline'",
	"img-src data: blob:",
	"media-src data: blob:",
	"font-src data:",
	"base-uri 'none'",
	"form-action 'none'",
	"frame-ancestors 'self'",
}, "; ")

func serveFrame(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", framePolicy)
	header.Set("X-Frame-Options", "SAMEORIGIN")
	header.Set("Cache-Control", "no-cache")
	if r.Method == http.MethodHead {
		return
	}
	_, _ = w.Write(frame)
}
