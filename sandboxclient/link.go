package sandboxclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"sandgate/sandboxclient/wire"
)

const (
	maxAnswer    = 16 << 20 // of a JSON answer; a listing of 10,000 names fits
	linkBuffer   = 256 << 10
	idleTimeout  = 90 * time.Second
	aliveTimeout = time.Second // a sandboxd that takes longer to say hello is dead
)

// A link speaks HTTP to one sandbox's sandboxd. The peer is not trusted: every
// answer is bounded.
type link struct {
	http    *http.Client
	deleted atomic.Bool // somebody asked for the sandbox's end
	origin  origin
}

// errDial marks a request of which nothing was sent.
var errDial = errors.New("dial sandbox")

func newLink(driver Driver, id ID) *link {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		conn, err := driver.Dial(ctx, id)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errDial, err)
		}
		return conn, nil
	}
	return &link{http: &http.Client{
		Transport: &http.Transport{
			DialContext:            dial,
			DisableCompression:     true,
			MaxIdleConnsPerHost:    16,
			IdleConnTimeout:        idleTimeout,
			ReadBufferSize:         linkBuffer,
			WriteBufferSize:        linkBuffer,
			MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

func (l *link) close() { l.http.CloseIdleConnections() }

// health shakes hands: whoever answers, in our version, is alive.
func (l *link) health(ctx context.Context) (wire.Health, error) {
	var h wire.Health
	if err := l.call(ctx, http.MethodGet, "/v1/health", nil, nil, &h); err != nil {
		return h, err
	}
	if h.Version != wire.Version {
		return h, wire.ErrVersion
	}
	return h, nil
}

// alive shakes hands within a second.
func (l *link) alive(ctx context.Context) (wire.Health, error) {
	ctx, cancel := context.WithTimeout(ctx, aliveTimeout)
	defer cancel()
	return l.health(ctx)
}

// handshake shakes hands and asks what runs there, within seconds.
func (l *link) handshake(ctx context.Context) ([]Execution, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*aliveTimeout)
	defer cancel()
	if _, err := l.health(ctx); err != nil {
		return nil, err
	}
	var executions []Execution
	err := l.call(ctx, http.MethodGet, "/v1/executions", nil, nil, &executions)
	return executions, err
}

// reach is handshake again and again for some time: an answer that does not come
// is no death.
func (l *link) reach(ctx context.Context, bound time.Duration) (executions []Execution, err error) {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	err = insist(ctx, func() (final bool, err error) {
		executions, err = l.handshake(ctx)
		return errors.Is(err, wire.ErrVersion), err
	})
	return executions, err
}

// insistPause is the pause between two questions whether a sandbox answers.
const insistPause = 20 * time.Millisecond

// insist asks a sandbox until it answers, is gone, gives an error that is final, or
// ctx ends. A connection that breaks is no answer while the sandbox lives: one that
// was woken may have had it open since before.
func insist(ctx context.Context, ask func() (final bool, err error)) error {
	final, err := ask()
	for err != nil && !final && !errors.Is(err, ErrGone) && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-time.After(insistPause):
			final, err = ask()
		}
	}
	return err
}

// request is one request to sandboxd.
type request struct {
	method string
	path   string
	query  url.Values
	header http.Header
	body   io.Reader
}

// do sends a request and gives the answer, failures as *wire.Error. The caller
// closes its body.
func (l *link) do(ctx context.Context, r request) (*http.Response, error) {
	target := url.URL{Scheme: "http", Host: "sandboxd", Path: r.path, RawQuery: r.query.Encode()}
	req, err := http.NewRequestWithContext(ctx, r.method, target.String(), r.body)
	if err != nil {
		return nil, err
	}
	if r.header != nil {
		req.Header = r.header
	}
	resp, err := l.http.Do(req)
	if err != nil {
		return nil, withoutURL(err)
	}
	if resp.StatusCode >= http.StatusBadRequest && resp.StatusCode != http.StatusRequestedRangeNotSatisfiable {
		defer drain(resp.Body)
		return nil, answeredError(resp)
	}
	return resp, nil
}

// withoutURL takes the address out of an error: it holds names of files, which
// no log may have.
func withoutURL(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

// call sends in as JSON, when there is one, and decodes the answer into out.
func (l *link) call(ctx context.Context, method, path string, query url.Values, in, out any) error {
	resp, err := l.send(ctx, method, path, query, in)
	if err != nil {
		return err
	}
	defer drain(resp.Body)
	if out == nil {
		return nil
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(out); err != nil {
		return badAnswer(fmt.Errorf("%s: %w", path, err))
	}
	return nil
}

// send sends in as JSON, when there is one.
func (l *link) send(ctx context.Context, method, path string, query url.Values, in any) (*http.Response, error) {
	r := request{method: method, path: path, query: query}
	if in != nil {
		body, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		r.body = bytes.NewReader(body)
	}
	return l.do(ctx, r)
}

// answeredError reads the error that sandboxd answered. The answer to a HEAD
// has no body: its status alone must do.
func answeredError(resp *http.Response) error {
	if code, ok := headCodes[resp.StatusCode]; ok && resp.Request.Method == http.MethodHead {
		return &wire.Error{Code: code, Message: http.StatusText(resp.StatusCode)}
	}
	var we wire.Error
	err := json.NewDecoder(io.LimitReader(resp.Body, 64<<10)).Decode(&we)
	if err != nil || we.Code == "" {
		return badAnswer(fmt.Errorf("status %d without an error", resp.StatusCode))
	}
	return &we
}

// headCodes are the failures of a read that a HEAD can meet.
var headCodes = map[int]string{
	http.StatusBadRequest:         wire.CodeInvalid,
	http.StatusForbidden:          wire.CodeForbidden,
	http.StatusNotFound:           wire.CodeNotFound,
	http.StatusConflict:           wire.CodeConflict,
	http.StatusPreconditionFailed: wire.CodePreconditionFailed,
	http.StatusTooManyRequests:    wire.CodeExhausted,
	http.StatusServiceUnavailable: wire.CodeUnavailable,
}

// drain reads what little is left, so that the connection can be used again.
func drain(body io.ReadCloser) {
	_, _ = io.CopyN(io.Discard, body, 4<<10)
	_ = body.Close()
}
