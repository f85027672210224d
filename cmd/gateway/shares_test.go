package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"

	"sandgate/internal/identity"
	"sandgate/internal/quota"
	"sandgate/sandboxclient"
)

// Following a link takes of the requests of whoever shared it, as no more than
// those are there for; one that is no link takes of nobody's.
func TestFollow_takesOfTheSharers(t *testing.T) {
	classes, _ := quota.Parse([]string{"default.rate=0.001", "default.burst=1"})
	book := quota.NewBook(classes, prometheus.NewRegistry())
	sharer := identity.NewSharer([]byte("key"))
	l := linked{sharer: sharer, keys: identity.Anybody{}, take: book.TakeFor}
	follow := func(token string) error {
		c := echo.New().NewContext(httptest.NewRequest("GET", "/s/x/nothing", nil), httptest.NewRecorder())
		c.SetParamNames("token", "*")
		c.SetParamValues(token, "nothing")
		return l.follow(c)
	}
	link := sharer.Seal(identity.Share{Owner: "alice", Kind: identity.ShareRun, Expires: time.Now().Add(time.Hour).Unix()})
	for _, tc := range []struct {
		token string
		want  sandboxclient.Code
	}{
		{link + "x", sandboxclient.CodeNotFound}, {link, sandboxclient.CodeNotFound}, {link, sandboxclient.CodeExhausted},
	} {
		if err := follow(tc.token); sandboxclient.CodeOf(err) != tc.want {
			t.Errorf("%v, want %s", err, tc.want)
		}
	}
	if book.Take(identity.Identity{Owner: "alice"}, http.Header{}) == nil || book.Take(identity.Identity{Owner: "bob"}, http.Header{}) != nil {
		t.Error("it went on another account")
	}
}
