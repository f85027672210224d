package httpapi

import (
	"net/url"
	"testing"
	"time"

	"sandgate/sandboxclient"
)

func TestCursor(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 678000, time.UTC)
	for _, id := range []string{"", "b", "two words"} {
		gotAt, got, err := QueryCursor(asked("after=" + Cursor(at, id)))
		if err != nil || got != id || (id != "" && !gotAt.Equal(at)) {
			t.Errorf("%q: %v %q %v", id, gotAt, got, err)
		}
	}
	for _, text := range []string{"x", "YQ", "*", Cursor(at, "b") + "="} {
		if _, _, err := QueryCursor(asked("after=" + url.QueryEscape(text))); sandboxclient.CodeOf(err) != sandboxclient.CodeInvalid {
			t.Errorf("%q: %v", text, err)
		}
	}
}
