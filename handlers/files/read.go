package files

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"sandgate/internal/httpapi"
	"sandgate/sandboxclient"
)

// Get answers GET and HEAD /files?path=: a file's bytes with their type,
// ranges and conditions as HTTP has them, or a directory's listing in JSON.
// With ?download=1 a browser saves the file instead of showing it.
func (h *Handler) Get(c echo.Context) error { return h.get(c, list) }

// GetFile is Get for who may look at one file: there is no directory.
func (h *Handler) GetFile(c echo.Context) error {
	return h.get(c, func(echo.Context, *sandboxclient.Listing) error {
		return sandboxclient.Errorf(sandboxclient.CodeNotFound, "There is no such file")
	})
}

func (h *Handler) get(c echo.Context, list func(echo.Context, *sandboxclient.Listing) error) error {
	sandbox, path, err := h.target(c)
	if err != nil {
		return err
	}
	file, err := sandbox.ReadFile(c.Request().Context(), path, conditions(c.Request()))
	if err != nil {
		return err
	}
	defer func() { _ = file.Body.Close() }() // all that we want of it was read
	if file.Listing != nil {
		return list(c, file.Listing)
	}
	return send(c, sandbox, path, file)
}

// conditions passes on what HTTP lets a client ask of a file. Of several
// ranges at once, and of an empty one, nothing is passed on: such a client gets
// the whole file.
func conditions(r *http.Request) sandboxclient.ReadOptions {
	opts := sandboxclient.ReadOptions{
		Head:              r.Method == http.MethodHead,
		Range:             r.Header.Get("Range"),
		IfRange:           r.Header.Get("If-Range"),
		IfMatch:           r.Header.Get("If-Match"),
		IfNoneMatch:       r.Header.Get("If-None-Match"),
		IfModifiedSince:   r.Header.Get("If-Modified-Since"),
		IfUnmodifiedSince: r.Header.Get("If-Unmodified-Since"),
	}
	if strings.Contains(opts.Range, ",") || ofNothing(opts.Range) {
		opts.Range, opts.IfRange = "", ""
	}
	return opts
}

// ofNothing says whether a range is the last 0 bytes, which net/http answers
// with a part that ends before it begins.
func ofNothing(ranges string) bool {
	before, suffix, _ := strings.Cut(ranges, "-")
	suffix = strings.TrimSpace(suffix)
	return strings.TrimSpace(before) == "bytes=" && suffix != "" && strings.Trim(suffix, "0") == ""
}

// list answers with a directory.
func list(c echo.Context, listing *sandboxclient.Listing) error {
	if c.Request().Method == http.MethodHead { // the entries were not asked for, so the length is not known
		c.Response().Header().Set("Content-Type", "application/json")
		return c.NoContent(http.StatusOK)
	}
	if listing.Entries == nil {
		listing.Entries = []sandboxclient.FileInfo{}
	}
	return httpapi.JSON(c, http.StatusOK, listing)
}

// send answers with a file, or with what its conditions made of it.
func send(c echo.Context, sandbox Sandbox, path string, file *sandboxclient.File) error {
	header := c.Response().Header()
	header.Set("Cache-Control", "private, no-cache") // kept, but asked about before each use
	setIf(header, "ETag", file.ETag)
	setIf(header, "Last-Modified", file.LastModified)
	setIf(header, "Content-Range", file.ContentRange)
	switch file.Status {
	case http.StatusNotModified, http.StatusRequestedRangeNotSatisfiable:
		return c.NoContent(file.Status)
	case http.StatusOK, http.StatusPartialContent:
	default:
		return &sandboxclient.Error{
			Code:    sandboxclient.CodeBadGateway,
			Message: "The sandbox answered in a way that makes no sense",
			Err:     fmt.Errorf("a file with status %d", file.Status),
		}
	}
	header.Set("Accept-Ranges", "bytes")
	body, err := describe(c, sandbox, path, file)
	if err != nil {
		return err
	}
	c.Response().WriteHeader(file.Status)
	if c.Request().Method == http.MethodHead {
		return nil
	}
	return httpapi.Copy(c.Response(), body)
}

func setIf(header http.Header, name, value string) {
	if value != "" {
		header.Set(name, value)
	}
}

// describe sets the headers that tell what the bytes are, and gives the bytes.
func describe(c echo.Context, sandbox Sandbox, name string, file *sandboxclient.File) (io.Reader, error) {
	header := c.Response().Header()
	kind, body, err := kindOf(c.Request(), sandbox, name, file)
	if err != nil {
		return nil, err
	}
	header.Set("Content-Type", kind)
	if active(kind) {
		header.Set("Content-Security-Policy", sandboxPolicy)
	}
	if file.Size >= 0 {
		header.Set("Content-Length", strconv.FormatInt(file.Size, 10))
	}
	download, err := httpapi.QueryBool(c, "download")
	if err != nil {
		return nil, err
	}
	if download {
		header.Set("Content-Disposition", attachment(path.Base(name)))
	}
	return body, nil
}

// attachment names the file that a browser saves.
func attachment(name string) string {
	if value := mime.FormatMediaType("attachment", map[string]string{"filename": name}); value != "" {
		return value
	}
	return "attachment"
}

// kindOf finds a file's content type: by its extension, or else by its first
// bytes, which are read apart when they are not among those to send.
func kindOf(r *http.Request, sandbox Sandbox, name string, file *sandboxclient.File) (string, io.Reader, error) {
	if kind, ok := kindByExtension(name); ok {
		return kind, file.Body, nil
	}
	if file.Status == http.StatusOK && r.Method != http.MethodHead {
		start, err := readStart(file.Body)
		return sniff(start), io.MultiReader(bytes.NewReader(start), file.Body), err
	}
	first, err := sandbox.ReadFile(r.Context(), name, sandboxclient.ReadOptions{Range: fmt.Sprintf("bytes=0-%d", sniffed-1)})
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = first.Body.Close() }()
	if first.Status != http.StatusOK && first.Status != http.StatusPartialContent { // empty: no range fits
		return sniff(nil), file.Body, nil
	}
	start, err := readStart(first.Body)
	return sniff(start), file.Body, err
}

func readStart(r io.Reader) ([]byte, error) {
	start := make([]byte, sniffed)
	n, err := io.ReadFull(r, start)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil // a short file, or a broken one: copying the rest will tell
	}
	return start[:n], err
}
