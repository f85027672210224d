package sandboxclient

import (
	"errors"
	"fmt"
	"time"

	"sandgate/sandboxclient/wire"
)

// A Code classes an error; internal/httpapi holds the one table that turns it
// into an HTTP status.
type Code string

// The codes. Those that sandboxd can answer are the wire's own words.
const (
	CodeInvalid            Code = wire.CodeInvalid            // the request is wrong; saying it again will not help
	CodeUnauthenticated    Code = "unauthenticated"           // nobody is known
	CodeForbidden          Code = wire.CodeForbidden          // known, and not allowed
	CodeNotFound           Code = wire.CodeNotFound           // not there, or not yours
	CodeMethodNotAllowed   Code = "method_not_allowed"        // the path is right, the method is not
	CodeConflict           Code = wire.CodeConflict           // the state of things forbids it
	CodePreconditionFailed Code = wire.CodePreconditionFailed // If-Match and its kin
	CodeTooLarge           Code = wire.CodeTooLarge           // a body or file beyond its bound
	CodeExhausted          Code = wire.CodeExhausted          // a limit of many; try later
	CodeCanceled           Code = "canceled"                  // the caller left
	CodeInternal           Code = wire.CodeInternal           // our fault; the cause is in the log
	CodeUnsupported        Code = wire.CodeUnsupported        // this engine cannot
	CodeBadGateway         Code = "bad_gateway"               // sandboxd answered nonsense
	CodeUnavailable        Code = wire.CodeUnavailable        // no sandbox answers; try later
	CodeTimeout            Code = "timeout"                   // our own deadline, not the program's
	CodeNoSpace            Code = wire.CodeNoSpace            // a disk or quota is full
)

// Error is the only kind of error that leaves this package.
type Error struct {
	Code       Code
	Op         string        // the operation, "run code" say
	Sandbox    ID            // the sandbox, when there is one
	Message    string        // public: a sentence for the visitor
	RetryAfter time.Duration // of exhausted and unavailable: when it may be worth it
	Err        error         // private: the cause, for the log
}

// Errorf makes an Error with a public message.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Error tells operator and log everything; visitors get Message.
func (e *Error) Error() string {
	s := string(e.Code) + ": " + e.Message
	if e.Op != "" {
		s = e.Op + ": " + s
	}
	if e.Sandbox != "" {
		s += " (sandbox " + string(e.Sandbox) + ")"
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap gives the private cause.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf classes any error: internal unless it is, or wraps, an Error.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeInternal
}
