package httpapi

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/labstack/echo/v4"

	"sandgate/sandboxclient"
)

// observe wraps every request: it names it, answers for what fails in it, and
// says once in log and metrics how it ended.
func (a *API) observe(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		begin := time.Now()
		a.metrics.inFlight.Inc()
		defer a.metrics.inFlight.Dec()
		w := newPatientWriter(c.Response().Writer, a.patience)
		c.Response().Writer = w
		a.locate(c)
		identify(c)
		setSafeHeaders(c.Response().Header())
		if c.Request().ContentLength != 0 { // the server reads what a handler leaves of a body
			expect(w.rc, a.silence)
		}

		end := outcome{status: http.StatusOK}
		if err := recovered(c, next); err != nil {
			end = a.fail(c, err)
		} else {
			end.status = c.Response().Status
		}
		a.record(c, end, time.Since(begin))
		if end.broken {
			panic(http.ErrAbortHandler) // the server closes the connection without a word
		}
		w.begin() // the server writes what is left of the answer
		return nil
	}
}

// An outcome is how a request ended.
type outcome struct {
	status int
	err    *sandboxclient.Error
	broken bool // the answer is not complete, and the client must notice
}

// fail answers with a failure if an answer can still be given.
func (a *API) fail(c echo.Context, err error) outcome {
	failure := classify(c.Request().Context(), err)
	status := StatusOf(failure.Code)
	if c.Response().Committed || status == StatusClientClosed {
		return outcome{status: status, err: failure, broken: true}
	}
	if err := writeFailure(c, failure); err != nil {
		return outcome{status: status, err: failure, broken: true}
	}
	return outcome{status: status, err: failure}
}

// recovered makes an error of a handler's panic.
func recovered(c echo.Context, next echo.HandlerFunc) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &sandboxclient.Error{
				Code:    sandboxclient.CodeInternal,
				Message: "a panic",
				Err:     fmt.Errorf("panic: %v\n%s", p, debug.Stack()),
			}
		}
	}()
	return next(c)
}

// record writes the access line. It holds no path and no query, because those
// are the visitors' own.
func (a *API) record(c echo.Context, end outcome, took time.Duration) {
	r := c.Request()
	route := a.route(c)
	a.metrics.observe(route, r.Method, end.status, took)

	attrs := []slog.Attr{
		slog.String("method", methodLabel(r.Method)),
		slog.String("route", route),
		slog.Int("status", end.status),
		slog.Int64("bytes", c.Response().Size),
		slog.Duration("duration", took),
		slog.String("remote", remote(r)),
		slog.String("request", RequestID(c)),
	}
	if app := a.apps[route]; app != "" {
		attrs = append(attrs, slog.String("app", app))
	}
	if id := Identity(c); id.Key != "" {
		attrs = append(attrs, slog.String("owner", id.Owner), slog.String("key", id.Key))
	}
	level := slog.LevelInfo
	if end.err != nil {
		level = levelOf(end.err.Code)
		attrs = append(attrs, slog.String("code", string(end.err.Code)))
	}
	if level > slog.LevelInfo {
		attrs = append(attrs, slog.String("error", end.err.Error()))
	}
	a.log.LogAttrs(context.WithoutCancel(r.Context()), level, "request", attrs...)
	a.tellAudit(c, end)
}

// levelOf says how much an operator should mind a failure.
func levelOf(code sandboxclient.Code) slog.Level {
	switch StatusOf(code) {
	case http.StatusInternalServerError, http.StatusBadGateway:
		return slog.LevelError
	case http.StatusServiceUnavailable, http.StatusGatewayTimeout, http.StatusInsufficientStorage:
		return slog.LevelWarn
	}
	return slog.LevelInfo
}

// route gives the pattern of the route that answered, one word for all others.
func (a *API) route(c echo.Context) string {
	if _, ok := a.apps[c.Path()]; ok {
		return c.Path()
	}
	return "unmatched"
}
