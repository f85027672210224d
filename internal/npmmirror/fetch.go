package npmmirror

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"syscall"
	"time"
)

const (
	fetchTime    = 5 * time.Minute  // for one answer, whole
	silenceTime  = 30 * time.Second // without a byte of it
	maxRedirects = 5
	maxDocument  = 32 << 20
)

var errSilence = fmt.Errorf("the registry fell silent: %w", context.DeadlineExceeded)

// get gives the file of a resource, from the cache or through it. A fetch is
// waited for although whoever asked has left: the connections that a sandbox may
// have are what bounds the fetches that it can set going.
func (m *Mirror) get(res resource) (*os.File, error) {
	if f, ok := m.fresh(res); ok {
		m.metrics.count("hit")
		return f, nil
	}
	_, err, _ := m.fetches.Do(res.key(), func() (any, error) {
		if !m.enter() {
			return nil, context.Canceled
		}
		defer m.wg.Done()
		return nil, m.fetch(res)
	})
	if err != nil {
		return m.stale(res, err)
	}
	f, _, ok := m.disk.open(m.key(res))
	if !ok {
		return nil, errors.New("it was fetched, and is gone again")
	}
	return f, nil
}

// key tells the packages of one registry from those of another.
func (m *Mirror) key(res resource) string { return m.base + " " + res.key() }

// fresh gives what is kept, unless the registry should be asked.
func (m *Mirror) fresh(res resource) (*os.File, bool) {
	f, used, ok := m.disk.open(m.key(res))
	if !ok {
		return nil, false
	}
	if res.file == "" && time.Since(used) > freshTime {
		_ = f.Close()
		return nil, false
	}
	if res.file != "" {
		m.disk.use(m.key(res))
	}
	return f, true
}

// stale gives a document that is old rather than none, when the registry fails.
func (m *Mirror) stale(res resource, err error) (*os.File, error) {
	if r, ok := errors.AsType[refusal](err); ok && r.status < 500 || res.file != "" { // it did answer
		m.metrics.count("failed")
		return nil, err
	}
	f, _, ok := m.disk.open(m.key(res))
	if !ok {
		m.metrics.count("failed")
		return nil, err
	}
	m.metrics.count("stale")
	m.opts.Logger.Warn("the npm registry does not answer; sandboxes get what is kept", "package", res.name, "error", err)
	return f, nil
}

// enter counts a fetch that Close waits for; after it there are none.
func (m *Mirror) enter() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.closed {
		m.wg.Add(1)
	}
	return !m.closed
}

// fetch brings a resource into the cache. It has a deadline of its own.
func (m *Mirror) fetch(res resource) error {
	ctx, cancel := context.WithTimeout(m.ctx, fetchTime)
	defer cancel()
	ctx, cut := context.WithCancelCause(ctx)
	defer cut(nil)
	silence := alarm{time.AfterFunc(m.patience, func() { cut(errSilence) }), m.patience}
	defer silence.Stop()
	into := m.fetchDocument
	if res.file != "" {
		into = m.fetchTarball
	}
	err := into(ctx, res, silence)
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, syscall.ENOSPC):
		return refusal{http.StatusServiceUnavailable, "the mirror's disk is full"}
	}
	return err
}

// ask sends a request to the registry. Nothing of the sandbox's goes with it
// but the name of the package.
func (m *Mirror) ask(ctx context.Context, res resource, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, m.base+res.path(), nil)
	if err != nil {
		return nil, err
	}
	req.Header = header
	req.Header.Set("User-Agent", "sandgate")
	resp, err := m.client.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusOK || resp.StatusCode == http.StatusNotModified {
		return resp, nil
	}
	_ = resp.Body.Close()
	return nil, notOK(resp.StatusCode)
}

// notOK is what a status of the registry means to npm. It asks again when it
// may help.
func notOK(status int) error {
	switch status {
	case http.StatusNotFound, http.StatusGone:
		return refusal{http.StatusNotFound, "Not found"}
	case http.StatusUnauthorized, http.StatusForbidden:
		return refusal{status, "the registry wants to know who asks, and sandboxes are given no credentials"}
	case http.StatusTooManyRequests:
		return refusal{status, "the registry is asked too much"}
	}
	return refusal{http.StatusBadGateway, fmt.Sprintf("the registry answered %d", status)}
}

// checkRedirect follows a registry to where it keeps its files, but never out
// of TLS.
func checkRedirect(req *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects || via[0].URL.Scheme == "https" && req.URL.Scheme != "https" {
		return errors.New("the registry redirects in a way that is not followed")
	}
	return nil
}

// download copies an answer that stays within most.
func download(to io.Writer, resp *http.Response, silence alarm, most int64) error {
	n, err := io.Copy(to, io.LimitReader(&attentive{resp.Body, silence}, most+1))
	switch {
	case err != nil:
		return err
	case n > most:
		return refusal{http.StatusBadGateway, "the registry's answer is too large for this mirror"}
	case resp.ContentLength >= 0 && n != resp.ContentLength:
		return io.ErrUnexpectedEOF
	}
	return nil
}

// An alarm goes off when it was not put off for a time.
type alarm struct {
	*time.Timer
	after time.Duration
}

// An attentive reader puts the alarm off whenever something comes.
type attentive struct {
	io.Reader
	silence alarm
}

func (a *attentive) Read(p []byte) (int, error) {
	n, err := a.Reader.Read(p)
	if n > 0 {
		a.silence.Reset(a.silence.after)
	}
	return n, err
}
