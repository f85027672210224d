package sandboxclient

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"

	"sandgate/sandboxclient/wire"
)

// ReadFile opens what a path holds: a file's bytes as they are, or a
// directory's listing. The conditions in opts are HTTP's own. The caller closes
// File.Body; until then the sandbox is in use.
func (s *Sandbox) ReadFile(ctx context.Context, path string, opts ReadOptions) (*File, error) {
	relative, err := workspaceRelative(path)
	if err != nil {
		return nil, s.failure(ctx, "read file", err)
	}
	r := request{method: http.MethodGet, path: "/v1/files", query: url.Values{"path": {relative}}, header: opts.header()}
	if opts.Head {
		r.method = http.MethodHead
	}
	var file *File
	err = s.holding(ctx, "read file", func(ctx context.Context, le *lease) error {
		resp, err := le.link.do(ctx, r)
		if err != nil {
			return err
		}
		file, err = newFile(resp, le)
		return err
	})
	return file, err
}

func (o ReadOptions) header() http.Header {
	h := http.Header{}
	set := func(name, value string) {
		if value != "" {
			h.Set(name, value)
		}
	}
	set("Range", o.Range)
	set("If-Range", o.IfRange)
	set("If-Match", o.IfMatch)
	set("If-None-Match", o.IfNoneMatch)
	set("If-Modified-Since", o.IfModifiedSince)
	set("If-Unmodified-Since", o.IfUnmodifiedSince)
	return h
}

// newFile makes a File of sandboxd's answer; its body keeps the lease.
func newFile(resp *http.Response, le *lease) (*File, error) {
	if resp.Header.Get("Content-Type") == wire.ContentTypeListing {
		defer le.release()
		return newListing(resp)
	}
	return &File{
		Status:       resp.StatusCode,
		Size:         resp.ContentLength,
		ContentRange: resp.Header.Get("Content-Range"),
		ETag:         resp.Header.Get("ETag"),
		LastModified: resp.Header.Get("Last-Modified"),
		Body:         &leasedBody{ReadCloser: resp.Body, lease: le},
	}, nil
}

func newListing(resp *http.Response) (*File, error) {
	defer drain(resp.Body)
	file := &File{Status: resp.StatusCode, Size: -1, Body: http.NoBody, Listing: &Listing{}}
	if resp.Request.Method == http.MethodHead {
		return file, nil
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(file.Listing); err != nil {
		return nil, badAnswer(err)
	}
	return file, nil
}

// leasedBody releases the sandbox when it is closed.
type leasedBody struct {
	io.ReadCloser
	lease *lease
	once  sync.Once
}

func (b *leasedBody) Close() error {
	err := b.ReadCloser.Close()
	b.once.Do(b.lease.release)
	return err
}

// WriteFile replaces a file's content as a whole, or leaves it as it was. A
// body that ends early changes nothing. Parents are made.
func (s *Sandbox) WriteFile(ctx context.Context, path string, body io.Reader, opts WriteOptions) (FileInfo, error) {
	most, explain, err := s.client.fit(ctx, opts.MaxBytes)
	if err != nil {
		return FileInfo{}, s.failure(ctx, "write file", err)
	}
	query := url.Values{}
	if most > 0 {
		query.Set("max", strconv.FormatInt(most, 10))
	}
	header := http.Header{}
	if opts.IfMatch != "" {
		header.Set("If-Match", opts.IfMatch)
	}
	if opts.IfNoneMatch != "" {
		header.Set("If-None-Match", opts.IfNoneMatch)
	}
	info, err := s.changeFile(ctx, "write file", path, request{method: http.MethodPut, path: "/v1/files", query: query, header: header, body: body})
	return info, s.failure(ctx, "write file", explain(err))
}

// Stat describes what a path holds, links not followed.
func (s *Sandbox) Stat(ctx context.Context, path string) (FileInfo, error) {
	return s.changeFile(ctx, "stat", path, request{method: http.MethodGet, path: "/v1/stat", query: url.Values{}})
}

// MakeDir makes a directory with its parents; one that is there is fine.
func (s *Sandbox) MakeDir(ctx context.Context, path string) (FileInfo, error) {
	return s.changeFile(ctx, "make directory", path, request{method: http.MethodPost, path: "/v1/mkdir", query: url.Values{}})
}

// changeFile sends a request about one path and decodes the FileInfo answered.
func (s *Sandbox) changeFile(ctx context.Context, op, path string, r request) (FileInfo, error) {
	var info FileInfo
	relative, err := workspaceRelative(path)
	if err != nil {
		return info, s.failure(ctx, op, err)
	}
	r.query.Set("path", relative)
	err = s.with(ctx, op, func(ctx context.Context, l *link) error {
		resp, err := l.do(ctx, r)
		if err != nil {
			return err
		}
		defer drain(resp.Body)
		if err := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(&info); err != nil {
			return badAnswer(err)
		}
		return nil
	})
	return info, err
}

// RemoveFile removes a file, a link itself, or an empty directory; with
// recursive a whole tree. /workspace itself stays.
func (s *Sandbox) RemoveFile(ctx context.Context, path string, recursive bool) error {
	relative, err := workspaceRelative(path)
	if err != nil {
		return s.failure(ctx, "remove file", err)
	}
	query := url.Values{"path": {relative}, "recursive": {strconv.FormatBool(recursive)}}
	return s.with(ctx, "remove file", func(ctx context.Context, l *link) error {
		return l.call(ctx, http.MethodDelete, "/v1/files", query, nil, nil)
	})
}

// Rename moves a file or directory within /workspace. An existing target is a
// conflict unless it may be replaced.
func (s *Sandbox) Rename(ctx context.Context, from, to string, replace bool) (FileInfo, error) {
	var info FileInfo
	source, err := workspaceRelative(from)
	if err != nil {
		return info, s.failure(ctx, "rename", err)
	}
	target, err := workspaceRelative(to)
	if err != nil {
		return info, s.failure(ctx, "rename", err)
	}
	in := wire.RenameRequest{From: source, To: target, Replace: replace}
	err = s.with(ctx, "rename", func(ctx context.Context, l *link) error {
		return l.call(ctx, http.MethodPost, "/v1/rename", nil, in, &info)
	})
	return info, err
}
