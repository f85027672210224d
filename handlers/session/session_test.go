package session

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"sandgate/internal/httpapi"
	"sandgate/internal/identity"
	"sandgate/sandboxclient"
)

// door is a Door that lets in who shows "right".
type door struct{}

func (door) SignIn(_ *http.Request, key string) (*http.Cookie, identity.Identity, error) {
	if key != "right" {
		return nil, identity.Identity{}, sandboxclient.Errorf(sandboxclient.CodeUnauthenticated, "wrong")
	}
	return &http.Cookie{Name: "c", Value: "v"}, identity.Identity{Owner: "alice", Key: "k", Apps: []string{"files"}}, nil
}

func (door) SignOut(*http.Request) (*http.Cookie, error) {
	return &http.Cookie{Name: "c", MaxAge: -1}, nil
}

func do(handler echo.HandlerFunc, method, body string) (*httptest.ResponseRecorder, error) {
	w := httptest.NewRecorder()
	return w, handler(echo.New().NewContext(httptest.NewRequest(method, "/v1/session", strings.NewReader(body)), w))
}

func TestSignIn(t *testing.T) {
	h := New(door{})
	for body, code := range map[string]sandboxclient.Code{
		"right":                      "",
		" right\n":                   "",
		`{"key":"right"}`:            "",
		`{"key":" right ","more":1}`: "",
		"wrong":                      sandboxclient.CodeUnauthenticated,
		"":                           sandboxclient.CodeUnauthenticated,
		`{"key":7}`:                  sandboxclient.CodeInvalid,
		`{}`:                         sandboxclient.CodeInvalid,
		strings.Repeat("x", 5<<10):   sandboxclient.CodeTooLarge,
	} {
		w, err := do(h.SignIn, http.MethodPost, body)
		if err != nil {
			if sandboxclient.CodeOf(err) != code {
				t.Errorf("%.20q: %v", body, err)
			}
			continue
		}
		want := `{"owner":"alice","key":"k","apps":["files"],"readOnly":false,"admin":false}` + "\n"
		if code != "" || w.Body.String() != want || w.Header().Get("Set-Cookie") != "c=v" {
			t.Errorf("%.20q: %s %v", body, w.Body, w.Header())
		}
	}
}

// Who has signed in is known to the log and the audit.
func TestSignIn_isKnownFromThenOn(t *testing.T) {
	c := echo.New().NewContext(httptest.NewRequest("POST", "/v1/session", strings.NewReader("right")), httptest.NewRecorder())
	if err := New(door{}).SignIn(c); err != nil || httpapi.Identity(c).Owner != "alice" || httpapi.Identity(c).Key != "k" {
		t.Errorf("%v, %+v", err, httpapi.Identity(c))
	}
}

func TestSignOut(t *testing.T) {
	w, err := do(New(door{}).SignOut, http.MethodDelete, "")
	if err != nil || w.Code != http.StatusNoContent || w.Header().Get("Set-Cookie") != "c=; Max-Age=0" || w.Header().Get("Clear-Site-Data") != `"cache"` {
		t.Errorf("%v %d %v", err, w.Code, w.Header())
	}
}
