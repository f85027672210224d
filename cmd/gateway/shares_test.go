package main

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"

	"sandgate/internal/httpapi"
	"sandgate/internal/identity"
	"sandgate/internal/quota"
	"sandgate/sandboxclient"
)

// atOnce is a turn that nobody waits for.
func atOnce(next echo.HandlerFunc) echo.HandlerFunc { return next }

// Following a link takes of the requests of whoever shared it, as no more than
// those are there for; one that is no link takes of nobody's.
func TestFollow_takesOfTheSharers(t *testing.T) {
	classes, _ := quota.Parse([]string{"default.rate=0.001", "default.burst=1"})
	book := quota.NewBook(classes, nil, prometheus.NewRegistry())
	sharer := identity.NewSharer([]byte("key"))
	l := linked{sharer: sharer, keys: identity.Anybody{}, take: book.TakeFor, turn: atOnce}
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

// However many follow the links of one owner, those of others are answered, and all
// places are somebody's.
func TestFollow_leavesRoomForOthers(t *testing.T) {
	cfg := defaults()
	cfg.Auth, cfg.MaxRequests, cfg.QueueTime = authKeys, 4, time.Nanosecond
	sharer := identity.NewSharer([]byte("key"))
	entered, leave := make(chan bool), make(chan bool)
	l := linked{
		sharer: sharer, keys: identity.Anybody{},
		take: quota.NewBook(nil, nil, prometheus.NewRegistry()).TakeFor,
		turn: newLimiters(cfg, prometheus.NewRegistry())[visiting].Admit,
		exists: func(sandboxclient.Ref) bool {
			entered <- true
			<-leave
			return false
		},
	}
	api := httpapi.New(httpapi.Options{Logger: quiet, Registry: prometheus.NewRegistry(), Guard: httpapi.NewGuard(nil)})
	mount(api, []route{{method: "GET", path: "/s/:token", kind: visiting, handler: l.follow}}, newLimiters(cfg, prometheus.NewRegistry()))
	visit := func(owner string) int {
		share := identity.Share{Owner: owner, Kind: identity.ShareFile, Target: "/workspace/a", Expires: time.Now().Add(time.Hour).Unix()}
		return ask(api, "GET", "/s/"+sharer.Seal(share)).Code
	}
	var visits sync.WaitGroup
	follows := func(owner string) {
		visits.Go(func() {
			if got := visit(owner); got != 404 {
				t.Errorf("a link of %s: %d", owner, got)
			}
		})
		select {
		case <-entered:
		case <-time.After(10 * time.Second):
			t.Errorf("there is no room for %s", owner)
		}
	}
	for range cfg.MaxRequests - 1 {
		follows("alice")
	}
	if got := visit("alice"); got != 429 {
		t.Errorf("one too many of alice: %d", got)
	}
	follows("bob")
	close(leave)
	visits.Wait()
}
