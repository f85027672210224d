package main

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"sandgate/handlers/coderunner"
	"sandgate/handlers/notebook"
	"sandgate/handlers/testrunner"
	"sandgate/internal/httpapi"
	"sandgate/internal/quota"
	"sandgate/sandboxclient"
)

// runCounter counts the runs of an owner that have not ended.
type runCounter interface {
	CountUnfinishedRuns(ctx context.Context, owner string) (int, error)
}

// executionBook tells the state of an owner's execution.
type executionBook interface {
	Execution(ctx context.Context, owner, id string) (sandboxclient.Execution, error)
}

// objectWeigher tells what an owner's backups take, and what its runs left.
type objectWeigher interface {
	ObjectBytes(ctx context.Context, owner string) (int64, error)
}

// An objectQuota bounds what owners keep in objects.
type objectQuota struct {
	book    *quota.Book
	objects objectWeigher
}

// Room is how many bytes more an owner may keep.
func (q objectQuota) Room(ctx context.Context, owner string) (int64, error) {
	has, err := q.objects.ObjectBytes(ctx, owner)
	return q.book.ObjectRoom(owner, has), err
}

// NoRoom refuses an owner more than that.
func (q objectQuota) NoRoom(owner string) error { return q.book.NoObjectRoom(owner) }

// withinQuotas gives the routes as they are for owners who may not have all that
// the gateway has. What it counts beyond the end of a request it counts no longer
// than ctx.
func withinQuotas(ctx context.Context, all []route, book *quota.Book, runs runCounter, executions executionBook) []route {
	all = slices.Clone(all)
	starts := newStarts()
	for i, r := range all {
		switch {
		case r.method != "POST" || r.path == "/notebook/interrupt":
		case r.app == coderunner.App || r.app == notebook.App:
			if book.Limited(func(l quota.Limits) bool { return l.Executions > 0 }) {
				all[i].handler = executing(ctx, book, executions, r.handler)
			}
		case r.app == testrunner.App && book.Limited(func(l quota.Limits) bool { return l.Runs > 0 }):
			all[i].handler = starts.starting(book, runs, r.handler)
		}
	}
	return all
}

// executing counts an execution until it ends, which may be after its request.
func executing(ctx context.Context, book *quota.Book, executions executionBook, next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		owner := httpapi.Owner(c)
		end, err := book.Begin(owner)
		if err != nil {
			return err
		}
		defer func() {
			id, begun := strings.CutPrefix(c.Response().Header().Get("Location"), "/executions/")
			left := c.Request().Context().Err() != nil
			if policy, _ := httpapi.Query(c, "onDisconnect"); policy != "continue" || !begun || !left {
				end()
				return
			}
			go func() { // until the execution's end, which its timeout bounds, or ctx's
				defer end()
				awaitEnd(ctx, executions, owner, id)
			}()
		}()
		return next(c)
	}
}

// askEvery is how long after its end an execution may still be counted.
const askEvery = time.Second

// awaitEnd waits for the end of an execution. One that is not there is asked for
// once more: its sandbox may be about to hear of it when its visitor has left.
func awaitEnd(ctx context.Context, executions executionBook, owner, id string) {
	for missing := 0; missing < 2; {
		x, err := executions.Execution(ctx, owner, id)
		switch {
		case err == nil && (x.Exit != nil || x.Error != nil):
			return
		case err != nil && sandboxclient.CodeOf(err) == sandboxclient.CodeNotFound:
			missing++
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(askEvery):
		}
	}
}

// starts lets each owner start one run at a time, so that whoever is counted has
// been written down.
type starts struct{ turns *quota.Turns }

func newStarts() starts { return starts{quota.NewTurns(math.MaxInt, 1)} }

// starting counts an owner's runs before it starts another.
func (s starts) starting(book *quota.Book, runs runCounter, next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		ctx, owner := c.Request().Context(), httpapi.Owner(c)
		if err := s.turns.Enter(ctx, owner); err != nil {
			return err
		}
		leave := sync.OnceFunc(func() { s.turns.Leave(owner) })
		defer leave()
		has, err := runs.CountUnfinishedRuns(ctx, owner)
		if err != nil {
			return err
		}
		if err := book.Runs(owner, has); err != nil {
			return err
		}
		c.Response().Before(leave) // the answer begins when the run is on record
		return next(c)
	}
}
