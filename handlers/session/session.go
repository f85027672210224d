// Package session signs browsers in and out, and tells whoever asks who it is.
package session

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"sandgate/internal/httpapi"
	"sandgate/internal/identity"
	"sandgate/sandboxclient"
)

// App is the name under which sessions are known.
const App = "session"

// MaxBody bounds what brings a key.
const MaxBody = 4 << 10

// Door lets browsers in that show a key, and out again.
type Door interface {
	SignIn(r *http.Request, key string) (*http.Cookie, identity.Identity, error)
	SignOut(r *http.Request) (*http.Cookie, error)
}

// A Handler answers requests about sessions.
type Handler struct{ door Door }

// New makes a handler on a door.
func New(door Door) *Handler { return &Handler{door} }

// who is somebody, as they are told themselves.
type who struct {
	Owner    string   `json:"owner"`
	Key      string   `json:"key,omitempty"` // its identifier; none where nobody is asked for one
	Apps     []string `json:"apps,omitempty"`
	ReadOnly bool     `json:"readOnly"`
	Admin    bool     `json:"admin"`
}

func tell(id identity.Identity) who {
	return who{Owner: id.Owner, Key: id.Key, Apps: id.Apps, ReadOnly: id.ReadOnly, Admin: id.Admin}
}

// Get answers GET /v1/session: who the gateway takes the request to be from.
func (h *Handler) Get(c echo.Context) error {
	return httpapi.JSON(c, http.StatusOK, tell(httpapi.Identity(c)))
}

// SignIn answers POST /v1/session: the body is a key, or {"key"}, and the answer
// brings the cookie of a new session.
func (h *Handler) SignIn(c echo.Context) error {
	body, err := httpapi.ReadBody(c, MaxBody)
	if err != nil {
		return err
	}
	key, err := keyIn(body)
	if err != nil {
		return err
	}
	cookie, id, err := h.door.SignIn(c.Request(), key)
	if err != nil {
		return err
	}
	forget(c)
	c.SetCookie(cookie)
	httpapi.Become(c, id) // from here on it is known whose request this is
	return httpapi.JSON(c, http.StatusOK, tell(id))
}

// keyIn reads a key from a body.
func keyIn(body []byte) (string, error) {
	text := strings.TrimSpace(string(body))
	if !strings.HasPrefix(text, "{") {
		return text, nil
	}
	var order struct {
		Key string `json:"key"`
	}
	if json.Unmarshal(body, &order) != nil || order.Key == "" {
		return "", sandboxclient.Errorf(sandboxclient.CodeInvalid, `The body is a key, or {"key":"…"}`)
	}
	return strings.TrimSpace(order.Key), nil
}

// SignOut answers DELETE /v1/session: the session ends at once. Who has none is
// signed out already.
func (h *Handler) SignOut(c echo.Context) error {
	cookie, err := h.door.SignOut(c.Request())
	if err != nil {
		return err
	}
	forget(c)
	c.SetCookie(cookie)
	return c.NoContent(http.StatusNoContent)
}

// forget has the browser drop what it keeps of the one before.
func forget(c echo.Context) { c.Response().Header().Set("Clear-Site-Data", `"cache"`) }
