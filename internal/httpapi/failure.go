package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"sandgate/sandboxclient"
)

// ErrStopping is the cause with which a stopping gateway ends the requests
// that outlast their grace.
var ErrStopping = &sandboxclient.Error{
	Code:       sandboxclient.CodeUnavailable,
	Message:    "The gateway is stopping",
	RetryAfter: 5 * time.Second,
}

// defaultRetryAfter is told when an error that invites another try names no time.
const defaultRetryAfter = 2 * time.Second

// classify turns whatever a handler or the router returned into an error with
// a code and a sentence for the visitor.
func classify(ctx context.Context, err error) *sandboxclient.Error {
	failure := typed(err)
	switch {
	case failure.Code != sandboxclient.CodeCanceled && failure.Code != sandboxclient.CodeInternal:
		return failure
	case ctx.Err() != nil: // what broke, broke because the request was over
		return ended(ctx, err)
	case failure.Code == sandboxclient.CodeCanceled: // the visitor waits: somebody else canceled the work
		return &sandboxclient.Error{Code: sandboxclient.CodeUnavailable, Message: "The work was canceled", Err: err}
	}
	return failure
}

// ended words the end of a request: we ended it, or the client left.
func ended(ctx context.Context, err error) *sandboxclient.Error {
	end := sandboxclient.Error{Code: sandboxclient.CodeCanceled, Message: "The client left"}
	if cause, ok := errors.AsType[*sandboxclient.Error](context.Cause(ctx)); ok {
		end = *cause
	}
	end.Err = err
	return &end
}

func typed(err error) *sandboxclient.Error {
	if e, ok := errors.AsType[*sandboxclient.Error](err); ok {
		return e
	}
	if e, ok := errors.AsType[*echo.HTTPError](err); ok {
		return fromRouter(e)
	}
	switch {
	case errors.Is(err, context.Canceled):
		return &sandboxclient.Error{Code: sandboxclient.CodeCanceled, Message: "The request was canceled", Err: err}
	case errors.Is(err, context.DeadlineExceeded):
		return &sandboxclient.Error{Code: sandboxclient.CodeTimeout, Message: "The request took too long", Err: err}
	}
	return &sandboxclient.Error{Code: sandboxclient.CodeInternal, Message: "something unforeseen", Err: err}
}

func fromRouter(e *echo.HTTPError) *sandboxclient.Error {
	message := http.StatusText(e.Code)
	switch e.Code {
	case http.StatusNotFound:
		message = "There is nothing at this path; GET / lists the routes"
	case http.StatusMethodNotAllowed:
		message = "This path does not take the method"
	}
	return &sandboxclient.Error{Code: CodeOf(e.Code), Message: message, Err: e}
}

// errorBody is a failure in JSON.
type errorBody struct {
	Error errorDetail `json:"error"`
}

type errorDetail struct {
	Code      sandboxclient.Code `json:"code"`
	Message   string             `json:"message"`
	RequestID string             `json:"requestId"`
}

// writeFailure answers with a failure in the form that the client asks for.
func writeFailure(c echo.Context, e *sandboxclient.Error) error {
	status := StatusOf(e.Code)
	header := c.Response().Header()
	begun := header.Get("Location")
	forgetContent(header)
	if begun != "" && errors.Is(context.Cause(c.Request().Context()), ErrStopping) {
		header.Set("Location", begun) // it may go on behind our back: the client should look before it tries again
	}
	if retry := retryAfter(e); retry > 0 {
		header.Set("Retry-After", strconv.Itoa(retry))
	}
	challenge(header, e.Code)
	header.Add("Vary", "Accept")
	message := publicMessage(c, e)
	if AcceptsJSON(c) {
		return JSON(c, status, errorBody{errorDetail{e.Code, message, RequestID(c)}})
	}
	return Text(c, status, message)
}

// forgetContent drops what a handler said about the content that it did not
// come to send.
func forgetContent(header http.Header) {
	for _, name := range []string{
		"Content-Length", "Content-Type", "Content-Range", "Content-Disposition", "ETag", "Last-Modified", "Location",
	} {
		header.Del(name)
	}
	header.Set("Cache-Control", "no-store")
}

func publicMessage(c echo.Context, e *sandboxclient.Error) string {
	if e.Code == sandboxclient.CodeInternal {
		return fmt.Sprintf("Something went wrong on our side; the log tells more under request %s", RequestID(c))
	}
	if allow := c.Response().Header().Get("Allow"); e.Code == sandboxclient.CodeMethodNotAllowed && allow != "" {
		methods := strings.Split(allow, ", ")
		slices.Sort(methods)
		return e.Message + "; it takes " + strings.Join(methods, ", ")
	}
	if e.Message == "" {
		return http.StatusText(StatusOf(e.Code))
	}
	return strings.ToValidUTF8(e.Message, "\uFFFD")
}

// retryAfter gives whole seconds, 0 for an error that another try will not help.
func retryAfter(e *sandboxclient.Error) int {
	if e.Code != sandboxclient.CodeExhausted && e.Code != sandboxclient.CodeUnavailable {
		return 0
	}
	wait := e.RetryAfter
	if wait <= 0 {
		wait = defaultRetryAfter
	}
	return int((wait + time.Second - 1) / time.Second)
}
