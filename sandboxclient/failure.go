package sandboxclient

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"sandgate/sandboxclient/wire"
)

const retrySoon = time.Second

// badAnswer is what sandboxd should never have said.
func badAnswer(err error) error {
	return &Error{Code: CodeBadGateway, Message: "The sandbox answered in a way that makes no sense", Err: err}
}

// startError is a sandbox that could not be started.
func startError(id ID, err error) error {
	if e, ok := errors.AsType[*Error](err); ok && e.Code != CodeInternal {
		e.Op, e.Sandbox = "start", id
		return e
	}
	message := "The sandbox could not be started; try again soon"
	return &Error{Code: CodeUnavailable, Op: "start", Sandbox: id, Message: message, RetryAfter: retrySoon, Err: err}
}

// contextError tells a caller who left from a deadline of ours.
func contextError(ctx context.Context) *Error {
	cause := context.Cause(ctx)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &Error{Code: CodeTimeout, Message: "The sandbox did not answer in time", Err: cause}
	}
	if e, ok := errors.AsType[*Error](cause); ok {
		return e
	}
	return &Error{Code: CodeCanceled, Message: "The request was canceled", Err: cause}
}

// failure gives an error of an operation its public form. What sandboxd
// answered is passed on; what broke is the sandbox's end.
func (s *Sandbox) failure(ctx context.Context, op string, err error) error {
	if err == nil {
		return nil
	}
	e := s.classify(ctx, err)
	e.Op, e.Sandbox = op, s.id
	return e
}

func (s *Sandbox) classify(ctx context.Context, err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		copied := *e
		return &copied
	}
	if we, ok := errors.AsType[*wire.Error](err); ok {
		return fromWire(we)
	}
	if ctx.Err() != nil {
		e := *contextError(ctx)
		return &e
	}
	return &Error{Code: CodeUnavailable, Message: "The sandbox does not answer; the next request starts it again", RetryAfter: retrySoon, Err: err}
}

// fromWire passes on what sandboxd answered. Its words reach visitors, so they
// are bounded and plain; a code that is not a failure's is nonsense.
func fromWire(we *wire.Error) *Error {
	code := Code(we.Code)
	switch code {
	case CodeInvalid, CodeForbidden, CodeNotFound, CodeConflict, CodePreconditionFailed,
		CodeTooLarge, CodeUnsupported, CodeNoSpace, CodeExhausted, CodeUnavailable:
	case CodeInternal:
		return &Error{Code: code, Message: "The sandbox failed", Err: we}
	default:
		return &Error{Code: CodeBadGateway, Message: "The sandbox answered in a way that makes no sense", Err: we}
	}
	return &Error{Code: code, Message: plain(we.Message), RetryAfter: retryAfter(code)}
}

// retryAfter says when a failure of this kind may have passed.
func retryAfter(code Code) time.Duration {
	if code == CodeExhausted || code == CodeUnavailable {
		return retrySoon
	}
	return 0
}

const maxMessage = 1000

// plain makes a foreign sentence fit to be shown: valid, bounded, one line.
func plain(message string) string {
	message = strings.ToValidUTF8(message, "�")
	if len(message) > maxMessage {
		cut := maxMessage
		for !utf8.RuneStart(message[cut]) {
			cut--
		}
		message = message[:cut] + "…"
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, message)
}

// observed is the code of an outcome for Observe: "" for success.
func observed(err error) Code {
	if err == nil {
		return ""
	}
	return CodeOf(err)
}

// answered says whether the error is sandboxd's own answer, a sign of life.
func answered(err error) bool {
	if _, ok := errors.AsType[*wire.Error](err); ok {
		return true
	}
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code != CodeUnavailable && e.Code != CodeTimeout
}
