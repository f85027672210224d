package search

import (
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"sandgate/sandboxclient"
)

// Whatever is asked is refused as invalid, or becomes a command that a kernel
// takes and that stays inside the workspace.
func FuzzQuestion(f *testing.F) {
	for _, seed := range []string{
		"", "q=a%5B&path=a/../b&fixed", "q=%00", "path=..%2f..", "include=*.go&include=&exclude=a/b",
		"context=20&maxMatches=1&timeout=1h&word&ignoreCase=true", "q=%ff&path=%00", "path=/workspace/../workspace/x",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		r := httptest.NewRequest("GET", "/search", nil)
		r.URL.RawQuery = raw
		q, err := question(echo.New().NewContext(r, httptest.NewRecorder()))
		if err != nil {
			if sandboxclient.CodeOf(err) != sandboxclient.CodeInvalid {
				t.Errorf("%q: %v", raw, err)
			}
			return
		}
		if q.path != "/workspace" && !strings.HasPrefix(q.path, "/workspace/") {
			t.Errorf("%q searches %q", raw, q.path)
		}
		for _, arg := range append(q.grep(false), q.survey()...) {
			if strings.ContainsRune(arg, 0) || !utf8.ValidString(arg) {
				t.Errorf("%q becomes %q", raw, arg)
			}
		}
	})
}
