package httpapi

import (
	"strings"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

const (
	requestIDHeader = "X-Request-Id"
	maxRequestID    = 64
	requestIDSigns  = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
)

// RequestID gives the id under which the log knows a request. The answer
// carries it as X-Request-Id.
func RequestID(c echo.Context) string {
	return c.Response().Header().Get(requestIDHeader)
}

// identify gives the request its id: the client's own if it is short and
// plain, so that a trace through several programs keeps one id.
func identify(c echo.Context) {
	id := c.Request().Header.Get(requestIDHeader)
	if id == "" || len(id) > maxRequestID || strings.Trim(id, requestIDSigns) != "" {
		id = uuid.NewString()
	}
	c.Response().Header().Set(requestIDHeader, id)
}
