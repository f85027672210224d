package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"

	"sandgate/internal/httpapi"
	"sandgate/internal/identity"
	"sandgate/internal/quota"
	"sandgate/internal/store"
	"sandgate/sandboxclient"
)

// atWork are executions, by id: those that are true run.
type atWork struct{ sync.Map }

func (a *atWork) Execution(_ context.Context, _, id string) (sandboxclient.Execution, error) {
	running, ok := a.Load(id)
	switch {
	case !ok:
		return sandboxclient.Execution{}, sandboxclient.Errorf(sandboxclient.CodeNotFound, "not there")
	case running.(bool):
		return sandboxclient.Execution{ID: id}, nil
	}
	return sandboxclient.Execution{ID: id, Exit: &sandboxclient.Exit{}}, nil
}

// Who leaves what goes on may not begin another one before it has ended; whatever
// else ends with its request is not counted beyond it.
func TestExecuting_countsWhatWasLeft(t *testing.T) {
	for _, tc := range []struct {
		query, location string
		running         bool
		left            bool
		counted         bool // after the request
	}{
		{"?onDisconnect=continue", "/executions/x", true, true, true},
		{"?onDisconnect=continue", "/executions/x", true, false, false}, // its end was told
		{"?onDisconnect=continue", "/executions/x", false, true, false},
		{"?onDisconnect=continue", "", true, true, false}, // it was refused
		{"?onDisconnect=cancel", "/executions/x", true, true, false},
		{"", "/executions/x", true, true, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			classes, _ := quota.Parse([]string{"default.executions=1"})
			book := quota.NewBook(classes, nil, prometheus.NewRegistry())
			executions := new(atWork)
			executions.Store("x", tc.running)
			post := func() error {
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				r := httptest.NewRequestWithContext(ctx, "POST", "/run"+tc.query, nil)
				c := echo.New().NewContext(r, httptest.NewRecorder())
				return executing(t.Context(), book, executions, func(c echo.Context) error {
					c.Response().Header().Set("Location", tc.location)
					if tc.left {
						leave()
					}
					return c.NoContent(http.StatusNoContent)
				})(c)
			}
			if err := post(); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if err := post(); (err != nil) != tc.counted {
				t.Errorf("%+v: %v", tc, err)
			}
			synctest.Wait()
			executions.Store("x", false)
			time.Sleep(askEvery)
			synctest.Wait()
			if err := post(); err != nil {
				t.Errorf("%+v: when it has ended: %v", tc, err)
			}
		})
	}
}

// What the sandbox does not know yet is not taken for what has ended, nor for
// ever for what is to come.
func TestAwaitEnd_missing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		executions := new(atWork)
		awaitEnd(t.Context(), executions, "alice", "x")
		if waited := time.Since(began); waited < askEvery || waited > 2*askEvery {
			t.Errorf("waited %v", waited)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		executions.Store("x", true)
		began = time.Now()
		awaitEnd(ctx, executions, "alice", "x")
		if waited := time.Since(began); waited < time.Minute {
			t.Errorf("waited %v", waited)
		}
	})
}

// What an owner has may be older than the gateway, which asks the database for its
// class, but only where keys say whose a request is. The pool is nobody's.
func TestNewQuotas_beforeTheFirstRequest(t *testing.T) {
	records, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "db"))
	if err != nil {
		t.Fatal(err)
	}
	defer records.Close()
	for _, owner := range []string{"ci", identity.Local} {
		key := identity.Key{ID: owner, Hash: []byte(owner), Owner: owner, Class: "ci", CreatedAt: time.Now()}
		if err := records.CreateKey(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	cfg := defaults()
	cfg.Quotas = []string{"default.running=3", "ci.running=20"}
	for _, tc := range []struct {
		auth, owner string
		running     int
	}{
		{authKeys, "ci", 20}, {authKeys, "else", 3}, {authKeys, "", 0},
		{authNone, identity.Local, 3}, {authNone, "", 0},
	} {
		cfg.Auth = tc.auth
		if got := newQuotas(cfg, records, prometheus.NewRegistry()).Share(tc.owner).Running; got != tc.running {
			t.Errorf("%+v: %d", tc, got)
		}
	}
}

// noRuns counts none, and tells that it was asked.
type noRuns chan string

func (n noRuns) CountUnfinishedRuns(_ context.Context, owner string) (int, error) {
	n <- owner
	return 0, nil
}

// An owner starts one run at a time however many others start theirs meanwhile,
// who wait for nobody.
func TestStarting_oneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book, starts, asked := quota.NewBook(nil, nil, prometheus.NewRegistry()), newStarts(), make(noRuns, 1)
		begun := make(chan bool)
		start := func(owner string, wait bool) {
			c := echo.New().NewContext(httptest.NewRequest("POST", "/tests", nil), httptest.NewRecorder())
			httpapi.Become(c, identity.Identity{Owner: owner})
			err := starts.starting(book, asked, func(c echo.Context) error {
				if wait {
					<-begun
				}
				return c.NoContent(http.StatusNoContent)
			})(c)
			if err != nil {
				t.Error(err)
			}
		}
		go start("alice", true)
		<-asked
		for i := range 20_000 {
			start(strconv.Itoa(i), false)
			<-asked
		}
		go start("alice", false)
		synctest.Wait()
		if len(asked) != 0 {
			t.Error("two at once")
		}
		close(begun)
		if owner := <-asked; owner != "alice" {
			t.Errorf("asked for %s", owner)
		}
	})
}
