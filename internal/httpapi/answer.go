package httpapi

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"
)

// JSON answers with v as JSON on one line. Signs like < stay as they are: no
// answer of ours is ever read as HTML.
func JSON(c echo.Context, status int, v any) error {
	enc := json.NewEncoder(&encoded{c, status})
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// encoded takes what an encoder writes, which is all of it at once, when nothing
// can fail any more: it goes to the client without another copy.
type encoded struct {
	c      echo.Context
	status int
}

// Write implements io.Writer.
func (e *encoded) Write(data []byte) (int, error) {
	header := e.c.Response().Header()
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", strconv.Itoa(len(data)))
	e.c.Response().WriteHeader(e.status)
	return e.c.Response().Write(data)
}

// Text answers with plain text, exactly as it is.
func Text(c echo.Context, status int, text string) error {
	return c.Blob(status, "text/plain; charset=utf-8", []byte(text))
}

// Flush sends what was answered so far. Without it a short answer leaves only
// when its handler has returned.
func Flush(c echo.Context) error {
	return http.NewResponseController(c.Response()).Flush()
}
