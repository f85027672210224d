package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"

	"sandgate/internal/httpapi"
	"sandgate/internal/identity"
	"sandgate/internal/quota"
	"sandgate/sandboxclient"
)

// Who may only look reaches what opens a sandbox if that exists; for whoever may
// make one it is made.
func TestLooking_makesNothing(t *testing.T) {
	reader, admin := identity.Identity{Owner: "alice", ReadOnly: true}, identity.Identity{Owner: "bob", Asker: "ops"}
	for _, path := range []string{"/files", "/search?q=x", "/v1/archives?app=files", "/v1/archives?app=notebook&name=n"} {
		for _, tc := range []struct {
			id     identity.Identity
			exists bool
			status int
		}{
			{identity.Identity{Owner: "alice"}, false, 204},
			{reader, false, 404}, {reader, true, 204},
			{admin, false, 404}, {admin, true, 204},
		} {
			var asked sandboxclient.Ref
			s := opened{client: sandboxclient.New(sandboxclient.Options{}), key: []byte("key")}
			all := answering(routes(s.client, nil, defaults(), s.proof.document), backupRoutes(s.client, nil, defaults()))
			api := httpapi.New(httpapi.Options{Logger: quiet, Registry: prometheus.NewRegistry(), Guard: httpapi.NewGuard(nil), Identifier: as(tc.id)})
			mount(api, whatExists(all, func(ref sandboxclient.Ref) bool { asked = ref; return tc.exists }), newLimiters(defaults(), prometheus.NewRegistry()))
			if got := ask(api, "GET", path); got.Code != tc.status || tc.id.ReadOnly != (asked.Owner == "alice") {
				t.Errorf("%s of %+v: %d %s, asked for %+v", path, tc.id, got.Code, got.Body, asked)
			}
		}
	}
}

// answering gives routes that answer alike.
func answering(lists ...[]route) (all []route) {
	for _, list := range lists {
		for _, r := range list {
			r.handler = func(c echo.Context) error { return c.NoContent(http.StatusNoContent) }
			all = append(all, r)
		}
	}
	return all
}

// as identifies everybody as one.
type as identity.Identity

func (a as) Identify(*http.Request) (identity.Identity, error) { return identity.Identity(a), nil }

// A link to a file whose sandbox is gone has none made.
func TestFollow_makesNothing(t *testing.T) {
	sharer := identity.NewSharer([]byte("key"))
	l := linked{
		sharer: sharer, keys: identity.Anybody{}, take: quota.NewBook(nil, nil, prometheus.NewRegistry()).TakeFor,
		turn:   atOnce,
		exists: func(sandboxclient.Ref) bool { return false },
	}
	c := echo.New().NewContext(httptest.NewRequest("GET", "/s/x", nil), httptest.NewRecorder())
	c.SetParamNames("token")
	c.SetParamValues(sharer.Seal(identity.Share{Owner: "alice", Kind: identity.ShareFile, Target: "/workspace/a", Expires: time.Now().Add(time.Hour).Unix()}))
	if err := l.follow(c); sandboxclient.CodeOf(err) != sandboxclient.CodeNotFound {
		t.Error(err)
	}
}
