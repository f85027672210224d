package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/labstack/echo/v4"

	"sandgate/sandboxclient"
)

// bodySilence bounds how long a client may send nothing of a body that it has
// begun. Uploads as a whole have no time limit, so silence must have one. And
// so must trickling: beyond that minute a body must come at bodyFloor bytes a
// second, or few clients could hold every turn for ever.
const (
	bodySilence = time.Minute
	bodyFloor   = 4 << 10
)

// A Body is a request's body, bounded in size and in silence. It remembers why
// reading it ended, because what the reader of a body makes of that is rarely
// what the visitor should be told.
type Body struct {
	r       io.Reader
	rc      *http.ResponseController
	silence time.Duration
	begun   time.Time
	total   int64
	err     error
}

// OpenBody gives the request's body. One that is announced larger than limit
// bytes is refused before anything is read.
func OpenBody(c echo.Context, limit int64) (*Body, error) {
	r, w := c.Request(), c.Response().Writer
	if patient, ok := w.(*patientWriter); ok {
		w = patient.ResponseWriter // the server's own, which closes the connection after a body that is too large
	}
	if r.ContentLength > limit {
		return nil, tooLarge(limit)
	}
	return &Body{
		r:       http.MaxBytesReader(w, r.Body, limit),
		rc:      http.NewResponseController(w),
		silence: bodySilence,
		begun:   time.Now(),
	}, nil
}

// Read implements io.Reader.
func (b *Body) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	expect(b.rc, min(b.silence, time.Until(b.due())))
	n, err := b.r.Read(p)
	b.total += int64(n)
	if err == nil {
		return n, nil
	}
	b.err = b.word(err)
	if errors.Is(b.err, io.EOF) {
		// From here on the connection is read only to notice that the client
		// left, which may take as long as it likes.
		_ = b.rc.SetReadDeadline(time.Time{})
	}
	return n, b.err
}

// due is when the next bytes must have come at the latest.
func (b *Body) due() time.Time {
	return b.begun.Add(b.silence + time.Duration(b.total/bodyFloor)*time.Second)
}

// expect gives the client that long to send something. A writer that knows no
// deadlines is a test's; silence cannot hurt there.
func expect(rc *http.ResponseController, within time.Duration) {
	_ = rc.SetReadDeadline(time.Now().Add(within))
}

// Err says why the body could not be read to its end; nil if it could, or if
// reading goes on.
func (b *Body) Err() error {
	if errors.Is(b.err, io.EOF) {
		return nil
	}
	return b.err
}

// word tells what ended a body in words for the visitor, io.EOF excepted.
func (b *Body) word(err error) error {
	if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return io.EOF
	}
	if e, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge(e.Limit)
	}
	message := "The body ended before it was complete"
	if errors.Is(err, os.ErrDeadlineExceeded) {
		message = fmt.Sprintf("The body did not go on for %v, or came too slowly", b.silence)
	}
	return &sandboxclient.Error{Code: sandboxclient.CodeInvalid, Message: message, Err: err}
}

func tooLarge(limit int64) error {
	return sandboxclient.Errorf(sandboxclient.CodeTooLarge, "The body is larger than %s", humanize.IBytes(uint64(limit)))
}

// ReadBody reads the whole body, of at most limit bytes.
func ReadBody(c echo.Context, limit int64) ([]byte, error) {
	body, err := OpenBody(c, limit)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(body)
}

// ReadFirst reads the body, of at most limit bytes, before next is asked for
// anything. It is for bodies so small that a slot is worth more than they are:
// whoever sends one slowly holds none.
func ReadFirst(limit int64, next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		body, err := ReadBody(c, limit)
		if err != nil {
			return err
		}
		c.Request().Body = io.NopCloser(bytes.NewReader(body))
		return next(c)
	}
}
