package npmmirror

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// freshTime is how long a document is taken as it is.
const freshTime = time.Minute

const maxDepth = 1000 // of a document's braces

// abbreviated is what npm asks for when it installs.
const abbreviated = "application/vnd.npm.install-v1+json"

func contentType(res resource) string {
	if res.full {
		return "application/json"
	}
	return abbreviated
}

// A document is kept behind a line of what is to be known of it.
type document struct {
	ETag string `json:"etag,omitempty"`
}

// readDocument reads that line; the file is then at the document.
func readDocument(f *os.File) (document, error) {
	var doc document
	line, err := bufio.NewReader(f).ReadBytes('\n')
	if err != nil {
		return doc, err
	}
	if err := json.Unmarshal(line, &doc); err != nil {
		return doc, err
	}
	_, err = f.Seek(int64(len(line)), io.SeekStart)
	return doc, err
}

// fetchDocument asks whether a document has changed, and keeps it if so.
func (m *Mirror) fetchDocument(ctx context.Context, res resource, silence alarm) error {
	header := http.Header{"Accept": {contentType(res) + "; q=1.0, application/json; q=0.8"}}
	if etag := m.etag(res); etag != "" {
		header.Set("If-None-Match", etag)
	}
	resp, err := m.ask(ctx, res, header)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusNotModified {
		m.metrics.count("revalidated")
		m.disk.renew(m.key(res))
		return nil
	}
	m.metrics.count("miss")
	return m.keepDocument(res, resp, silence)
}

// etag gives that of the document that is kept.
func (m *Mirror) etag(res resource) string {
	f, _, ok := m.disk.open(m.key(res))
	if !ok {
		return ""
	}
	defer f.Close()
	doc, err := readDocument(f)
	if err != nil {
		return ""
	}
	return doc.ETag
}

func (m *Mirror) keepDocument(res resource, resp *http.Response, silence alarm) error {
	f, err := m.disk.create()
	if err != nil {
		return err
	}
	defer discard(f)
	line, err := json.Marshal(document{ETag: bounded(resp.Header.Get("ETag"))})
	if err != nil {
		return err
	}
	if _, err := f.Write(append(line, '\n')); err != nil {
		return err
	}
	if err := download(f, resp, silence, maxDocument); err != nil {
		return err
	}
	if err := checkDocument(f, int64(len(line))+1); err != nil {
		return err
	}
	return m.disk.commit(f, m.key(res))
}

func bounded(etag string) string {
	if len(etag) > 256 {
		return ""
	}
	return etag
}

var errGarbage = refusal{http.StatusBadGateway, "the registry's answer makes no sense"}

// checkDocument wants one JSON object, and does not hold it in memory.
func checkDocument(f *os.File, at int64) error {
	if _, err := f.Seek(at, io.SeekStart); err != nil {
		return err
	}
	decoder := json.NewDecoder(bufio.NewReader(f))
	if first, err := decoder.Token(); err != nil || first != json.Delim('{') {
		return errGarbage
	}
	for depth := 1; depth > 0; {
		token, err := decoder.Token()
		if err != nil || depth > maxDepth {
			return errGarbage
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errGarbage
	}
	return nil
}

// sendRewritten answers with a document whose tarballs lie here, under the name
// by which this mirror was asked.
func (m *Mirror) sendRewritten(w http.ResponseWriter, r *http.Request, f *os.File) error {
	rewritten, err := m.disk.create()
	if err != nil {
		return err
	}
	defer discard(rewritten)
	// r.Host has no quotes, or net/http would have refused it.
	if err := m.rewrite(rewritten, f, "http://"+r.Host+"/"); err != nil {
		return err
	}
	return send(w, rewritten)
}

// rewrite is done for one document at a time, which may be large, and into a
// file: whoever is slow to read it must not hold up others.
func (m *Mirror) rewrite(to, from *os.File, here string) error {
	m.rewriting.Lock()
	defer m.rewriting.Unlock()
	body, err := io.ReadAll(from)
	if err != nil {
		return err
	}
	for _, base := range []string{m.base, strings.ReplaceAll(m.base, "/", `\/`)} {
		body = bytes.ReplaceAll(body, []byte(`"`+base), []byte(`"`+here))
	}
	if _, err := to.Write(body); err != nil {
		return err
	}
	_, err = to.Seek(0, io.SeekStart)
	return err
}

func setLength(w http.ResponseWriter, n int64) {
	w.Header().Set("Content-Length", strconv.FormatInt(n, 10))
}
