package webui

import (
	"bytes"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"
)

// encodings are the compressed forms that the build lays beside an asset, the
// smallest first.
var encodings = []struct{ name, suffix string }{{"br", ".br"}, {"gzip", ".gz"}}

// serveAsset answers with a file whose name holds a hash of its content: it can
// be kept for ever.
func (p *Pages) serveAsset(w http.ResponseWriter, r *http.Request, name string) {
	data, encoding, err := p.read(r, name)
	if err != nil || path.Ext(name) == ".br" || path.Ext(name) == ".gz" {
		http.NotFound(w, r)
		return
	}
	header := w.Header()
	header.Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	header.Set("Cache-Control", "public, max-age=31536000, immutable")
	header.Set("Vary", "Accept-Encoding")
	if encoding != "" {
		header.Set("Content-Encoding", encoding)
	}
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(data))
}

// read gives the smallest form of an asset that the browser takes. A range is
// one of the plain form.
func (p *Pages) read(r *http.Request, name string) (data []byte, encoding string, err error) {
	accepted := r.Header.Get("Accept-Encoding")
	for _, e := range encodings {
		if r.Header.Get("Range") != "" || !strings.Contains(accepted, e.name) {
			continue
		}
		if data, err := fs.ReadFile(p.files, name+e.suffix); err == nil {
			return data, e.name, nil
		}
	}
	data, err = fs.ReadFile(p.files, name)
	return data, "", err
}
