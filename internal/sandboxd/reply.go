package sandboxd

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"syscall"

	"sandgate/sandboxclient/wire"
)

// maxRequest bounds a JSON request.
const maxRequest = 16 << 20

// statuses are what the codes are as HTTP says it.
var statuses = map[string]int{
	wire.CodeInvalid:            http.StatusBadRequest,
	wire.CodeForbidden:          http.StatusForbidden,
	wire.CodeNotFound:           http.StatusNotFound,
	wire.CodeConflict:           http.StatusConflict,
	wire.CodePreconditionFailed: http.StatusPreconditionFailed,
	wire.CodeTooLarge:           http.StatusRequestEntityTooLarge,
	wire.CodeExhausted:          http.StatusTooManyRequests,
	wire.CodeInternal:           http.StatusInternalServerError,
	wire.CodeUnsupported:        http.StatusNotImplemented,
	wire.CodeUnavailable:        http.StatusServiceUnavailable,
	wire.CodeNoSpace:            http.StatusInsufficientStorage,
}

// A handler answers, or returns an error before it has begun to.
type handler func(w http.ResponseWriter, r *http.Request) error

// handle is where every failed request is answered.
func (s *server) handle(h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := h(w, r)
		if err == nil || r.Context().Err() != nil {
			return
		}
		e, ok := errors.AsType[*wire.Error](err)
		if !ok {
			s.log.Error("request failed", "route", r.Pattern, "cause", loggable(err))
			e = &wire.Error{Code: wire.CodeInternal, Message: "Something went wrong in the sandbox"}
		}
		writeJSON(w, statuses[e.Code], e)
	})
}

// loggable is what may be told of an error: its text can hold a path or a
// program's name, which are the user's.
func loggable(err error) slog.Value {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return slog.StringValue(errno.Error())
	}
	for cause := err; cause != nil; cause = errors.Unwrap(cause) {
		err = cause
	}
	return slog.StringValue(err.Error())
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	writeAs(w, status, "application/json", v)
}

func writeAs(w http.ResponseWriter, status int, contentType string, v any) {
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // whoever is gone needs no answer
}

// readJSON reads a request's body, which is exactly one JSON value.
func readJSON(w http.ResponseWriter, r *http.Request, v any) error {
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest))
	err := decoder.Decode(v)
	if err == nil && decoder.More() {
		err = errors.New("more than one value")
	}
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return &wire.Error{Code: wire.CodeTooLarge, Message: "The request is too large"}
	}
	if err != nil {
		return &wire.Error{Code: wire.CodeInvalid, Message: "The request is not valid JSON"}
	}
	return nil
}

func (s *server) unknown(http.ResponseWriter, *http.Request) error {
	return &wire.Error{Code: wire.CodeNotFound, Message: "sandboxd does not know this request"}
}
