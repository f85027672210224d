package sandboxd

import (
	"io"
	"net/http"
	"strconv"
	"sync"

	"sandgate/internal/sandboxd/workspace"
	"sandgate/sandboxclient/wire"
)

// copyBuffer is how much of a file is sent at once.
const copyBuffer = 1 << 20

// GET /v1/files?path=
func (s *server) readFile(w http.ResponseWriter, r *http.Request) error {
	f, err := s.files.Open(r.URL.Query().Get("path"))
	if err != nil {
		return err
	}
	defer f.Close()
	if f.IsDir() {
		return s.list(w, r)
	}
	w.Header().Set("ETag", f.Info.ETag)
	// The gateway decides on the type; an empty one would be guessed here.
	w.Header().Set("Content-Type", "application/octet-stream")
	if f.Info.Size == 0 { // of nothing there is no part, but net/http finds one for bytes=-5
		r.Header.Del("Range")
	}
	http.ServeContent(bulkWriter{w}, r, "", f.Info.Modified, f)
	return nil
}

// A bulkWriter copies with a larger buffer than net/http's.
type bulkWriter struct{ http.ResponseWriter }

// ReadFrom is what io.Copy prefers.
func (w bulkWriter) ReadFrom(from io.Reader) (int64, error) {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	return io.CopyBuffer(writerOnly{w.ResponseWriter}, from, *buf)
}

var buffers = sync.Pool{New: func() any { return new(make([]byte, copyBuffer)) }}

type writerOnly struct{ io.Writer }

func (s *server) list(w http.ResponseWriter, r *http.Request) error {
	listing, err := s.files.List(r.Context(), r.URL.Query().Get("path"))
	if err != nil {
		return err
	}
	writeAs(w, http.StatusOK, wire.ContentTypeListing, listing)
	return nil
}

// PUT /v1/files?path=&max=
func (s *server) writeFile(w http.ResponseWriter, r *http.Request) error {
	body, err := boundedBody(w, r)
	if err != nil {
		return err
	}
	info, err := s.files.Write(r.Context(), r.URL.Query().Get("path"), body, workspace.Conditions{
		IfMatch:     r.Header.Get("If-Match"),
		IfNoneMatch: r.Header.Get("If-None-Match"),
	})
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, info)
	return nil
}

// boundedBody holds the request to its own max.
func boundedBody(w http.ResponseWriter, r *http.Request) (io.Reader, error) {
	text := r.URL.Query().Get("max")
	if text == "" {
		return r.Body, nil
	}
	limit, err := strconv.ParseInt(text, 10, 64)
	if err != nil || limit < 0 {
		return nil, &wire.Error{Code: wire.CodeInvalid, Message: "max is not a number of bytes"}
	}
	if limit == 0 {
		return r.Body, nil
	}
	if r.ContentLength > limit {
		return nil, &wire.Error{Code: wire.CodeTooLarge, Message: "The file is too large"}
	}
	return http.MaxBytesReader(w, r.Body, limit), nil
}

// DELETE /v1/files?path=&recursive=
func (s *server) removeFile(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	recursive := false
	if text := query.Get("recursive"); text != "" {
		var err error
		if recursive, err = strconv.ParseBool(text); err != nil {
			return &wire.Error{Code: wire.CodeInvalid, Message: "recursive is neither true nor false"}
		}
	}
	if err := s.files.Remove(r.Context(), query.Get("path"), recursive); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// GET /v1/stat?path=
func (s *server) statFile(w http.ResponseWriter, r *http.Request) error {
	info, err := s.files.Stat(r.URL.Query().Get("path"))
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, info)
	return nil
}

// POST /v1/mkdir?path=
func (s *server) makeDir(w http.ResponseWriter, r *http.Request) error {
	info, err := s.files.Mkdir(r.URL.Query().Get("path"))
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, info)
	return nil
}

// POST /v1/rename
func (s *server) renameFile(w http.ResponseWriter, r *http.Request) error {
	var req wire.RenameRequest
	if err := readJSON(w, r, &req); err != nil {
		return err
	}
	info, err := s.files.Rename(req.From, req.To, req.Replace)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, info)
	return nil
}
