package main

import (
	"context"
	"net/http"
	"net/http/httptest"
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
			book := quota.NewBook(classes, prometheus.NewRegistry())
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
		book, starts, asked := quota.NewBook(nil, prometheus.NewRegistry()), newStarts(), make(noRuns, 1)
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
