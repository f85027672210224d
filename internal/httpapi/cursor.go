package httpapi

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"sandgate/sandboxclient"
)

// Cursor is a position in a list that goes by time and id, as text that nobody
// needs to understand; "" for none.
func Cursor(at time.Time, id string) string {
	if id == "" {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(at.UnixMicro(), 10) + " " + id))
}

// QueryCursor reads back from ?after= what Cursor gave; zeros when it is not there.
func QueryCursor(c echo.Context) (at time.Time, id string, err error) {
	text, _ := Query(c, "after")
	if text == "" {
		return time.Time{}, "", nil
	}
	decoded, err := base64.RawURLEncoding.DecodeString(text)
	digits, id, found := strings.Cut(string(decoded), " ")
	micros, bad := strconv.ParseInt(digits, 10, 64)
	if err != nil || bad != nil || !found {
		return time.Time{}, "", sandboxclient.Errorf(sandboxclient.CodeInvalid, "after is what next was in an earlier answer")
	}
	return time.UnixMicro(micros).UTC(), id, nil
}
