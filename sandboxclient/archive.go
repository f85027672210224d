package sandboxclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"sandgate/sandboxclient/wire"
)

// ArchiveInfo counts what an archive holds.
type ArchiveInfo = wire.ArchiveInfo

// ArchiveOptions say how a directory is packed.
type ArchiveOptions struct {
	Excludes  []string // what is left out, in git's notation
	Gitignore bool     // leave out what the .gitignore files in the directory do
	Tar       bool     // a plain tar, and not one compressed by zstd
	MaxBytes  int64    // of content; 0: as much as sandboxd packs
}

// RestoreOptions say what is taken of an archive.
type RestoreOptions struct {
	MaxBytes int64 // of content; 0: as much as sandboxd unpacks
	Foreign  bool  // it does not come from Archive: links that lead out of it are refused
}

// archiveSilence bounds how long an archive may stand still, on either side.
const archiveSilence = 2 * time.Minute

var errSilence = &Error{Code: CodeTimeout, Message: "The archive did not go on"}

// Archive packs a directory. The caller reads it to its end, where alone an
// error can say that it is not whole, and closes it; until then the sandbox is
// in use. A sandbox that does not exist is not_found: nobody wants to keep the
// nothing that a mistyped name has.
func (s *Sandbox) Archive(ctx context.Context, dir string, o ArchiveOptions) (*Archive, error) {
	relative, err := workspaceRelative(dir)
	if err == nil {
		_, err = s.record(ctx)
	}
	if err != nil {
		return nil, s.failure(ctx, "archive", err)
	}
	query := url.Values{"dir": {relative}, "exclude": o.Excludes, "gitignore": {strconv.FormatBool(o.Gitignore)}}
	if o.Tar {
		query.Set("format", "tar")
	}
	if o.MaxBytes > 0 {
		query.Set("max", strconv.FormatInt(o.MaxBytes, 10))
	}
	var archive *Archive
	err = s.holding(ctx, "archive", func(ctx context.Context, le *lease) error {
		watched, cancel := context.WithCancelCause(ctx)
		resp, err := le.link.do(watched, request{method: http.MethodGet, path: "/v1/archive", query: query})
		if err != nil {
			cancel(nil)
			return err
		}
		archive = &Archive{sandbox: s, ctx: watched, cancel: cancel, resp: resp, body: &leasedBody{ReadCloser: resp.Body, lease: le}}
		archive.silence = time.AfterFunc(archiveSilence, func() { cancel(errSilence) })
		return nil
	})
	return archive, err
}

// An Archive is a directory that is being packed.
type Archive struct {
	sandbox *Sandbox
	ctx     context.Context
	cancel  context.CancelCauseFunc
	silence *time.Timer
	resp    *http.Response
	body    io.ReadCloser
	info    ArchiveInfo
	err     error // what reading ended with
}

// Read implements io.Reader. It ends with io.EOF only if the archive is whole.
func (a *Archive) Read(p []byte) (int, error) {
	if a.err != nil {
		return 0, a.err
	}
	a.silence.Reset(archiveSilence)
	n, err := a.body.Read(p)
	switch {
	case err == nil:
		return n, nil
	case errors.Is(err, io.EOF):
		err = a.end()
	}
	if !errors.Is(err, io.EOF) {
		err = a.sandbox.failure(a.ctx, "archive", err)
	}
	a.err = err
	return n, err
}

// end reads what sandboxd says after the last byte.
func (a *Archive) end() error {
	var end wire.ArchiveEnd
	if err := json.Unmarshal([]byte(a.resp.Trailer.Get(wire.ArchiveTrailer)), &end); err != nil {
		return badAnswer(fmt.Errorf("archive without its end: %w", err))
	}
	if end.Error != nil {
		return end.Error
	}
	a.info = end.Info
	return io.EOF
}

// Info counts what the archive holds, once it was read to its end.
func (a *Archive) Info() ArchiveInfo { return a.info }

// Close lets the sandbox go.
func (a *Archive) Close() error {
	a.silence.Stop()
	err := a.body.Close()
	a.cancel(nil)
	return err
}

// Restored tells of a directory that was made what an archive holds.
type Restored struct {
	ArchiveInfo
	Restart string // why the sandbox has lost what it had in memory; "" if it has not
}

// otherFiles is why a sandbox that slept begins anew.
const otherFiles = "its files were restored while it slept"

// Restore makes a directory an exact replica of an archive: what the archive
// does not hold is gone afterwards. It does so in one step once all of body has
// come; when body fails, or anything else, the directory is as it was.
//
// A sandbox that runs goes on with other files. One that slept does not: what it
// has in memory is of the files of before, and is dropped once these are gone.
func (s *Sandbox) Restore(ctx context.Context, dir string, body io.Reader, o RestoreOptions) (Restored, error) {
	var info Restored
	relative, err := workspaceRelative(dir)
	if err != nil {
		return info, s.failure(ctx, "restore", err)
	}
	most, explain, err := s.client.fit(ctx, o.MaxBytes)
	if err != nil {
		return info, s.failure(ctx, "restore", err)
	}
	query := url.Values{"dir": {relative}, "foreign": {strconv.FormatBool(o.Foreign)}}
	if most > 0 {
		query.Set("max", strconv.FormatInt(most, 10))
	}
	slept := s.client.asleep(s.id)
	err = s.with(ctx, "restore", func(ctx context.Context, l *link) error {
		return s.lastingWork(ctx, func() error { return l.restore(ctx, query, body, &info.ArchiveInfo) })
	})
	if err == nil && slept {
		info.Restart, err = s.client.beginAnew(ctx, s.id, otherFiles)
	}
	return info, explain(err)
}

// beginAnew has a sandbox that runs begin with an empty memory, and gives the
// reason as it was told; "" if somebody uses what is there already, or it is gone.
func (c *Client) beginAnew(ctx context.Context, id ID, why string) (string, error) {
	c.mu.Lock()
	l := c.lives[id]
	c.mu.Unlock()
	if l == nil {
		return "", nil
	}
	f := l.restart(why)
	if f == nil {
		return "", nil
	}
	if !f.landed(ctx) {
		return "", contextError(ctx)
	}
	return why, nil // if it did not start, the next operation has it start
}

func (l *link) restore(ctx context.Context, query url.Values, body io.Reader, info *ArchiveInfo) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(archiveSilence, func() { cancel(errSilence) })
	defer silence.Stop()
	watched := &watchedBody{body: body, silence: silence}
	resp, err := l.do(ctx, request{method: http.MethodPut, path: "/v1/archive", query: query, body: watched})
	if failed := watched.failed(); failed != nil {
		return failed // which says more than the broken request
	}
	if err != nil {
		return err
	}
	defer drain(resp.Body)
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(info); err != nil {
		return badAnswer(err)
	}
	return nil
}
