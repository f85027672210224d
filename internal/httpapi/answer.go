package httpapi

import (
	"bytes"
	"encoding/json"

	"github.com/labstack/echo/v4"
)

// JSON answers with v as JSON on one line. Signs like < stay as they are: no
// answer of ours is ever read as HTML.
func JSON(c echo.Context, status int, v any) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	return c.Blob(status, "application/json", buf.Bytes())
}

// Text answers with plain text, exactly as it is.
func Text(c echo.Context, status int, text string) error {
	return c.Blob(status, "text/plain; charset=utf-8", []byte(text))
}
