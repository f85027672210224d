package main

import (
	"context"
	"slices"
	"sync"

	"github.com/labstack/echo/v4"

	"sandgate/handlers/coderunner"
	"sandgate/handlers/notebook"
	"sandgate/handlers/testrunner"
	"sandgate/internal/httpapi"
	"sandgate/internal/quota"
	"sandgate/internal/recent"
)

// runCounter counts the runs of an owner that have not ended.
type runCounter interface {
	CountUnfinishedRuns(ctx context.Context, owner string) (int, error)
}

// objectWeigher tells what an owner's backups and artifacts take.
type objectWeigher interface {
	ObjectBytes(ctx context.Context, owner string) (int64, error)
}

// artifactRoom tells how many bytes of artifacts an owner may still keep.
func artifactRoom(book *quota.Book, objects objectWeigher) func(ctx context.Context, owner string) (int64, error) {
	return func(ctx context.Context, owner string) (int64, error) {
		has, err := objects.ObjectBytes(ctx, owner)
		return book.ObjectRoom(owner, has), err
	}
}

// roomFor says why an owner may keep no further backup.
func roomFor(book *quota.Book, objects objectWeigher) func(ctx context.Context, owner string) error {
	return func(ctx context.Context, owner string) error {
		has, err := objects.ObjectBytes(ctx, owner)
		if err != nil {
			return err
		}
		return book.Objects(owner, has)
	}
}

// withinQuotas gives the routes as they are for owners who may not have all that
// the gateway has.
func withinQuotas(all []route, book *quota.Book, runs runCounter) []route {
	all = slices.Clone(all)
	starts := newStarts()
	for i, r := range all {
		switch {
		case r.method != "POST" || r.path == "/notebook/interrupt":
		case r.app == coderunner.App || r.app == notebook.App:
			all[i].handler = executing(book, r.handler)
		case r.app == testrunner.App && book.Limited(func(l quota.Limits) bool { return l.Runs > 0 }):
			all[i].handler = starts.starting(book, runs, r.handler)
		}
	}
	return all
}

// executing counts an execution for as long as its request lasts.
func executing(book *quota.Book, next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		end, err := book.Begin(httpapi.Owner(c))
		if err != nil {
			return err
		}
		defer end()
		return next(c)
	}
}

// starts lets each owner start one run at a time, so that whoever is counted has
// been written down.
type starts struct {
	turns *recent.Map[string, chan struct{}] // by owner; who starts a run has put something in
}

func newStarts() starts { return starts{recent.New[string, chan struct{}](10_000)} }

// starting counts an owner's runs before it starts another.
func (s starts) starting(book *quota.Book, runs runCounter, next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		ctx, owner := c.Request().Context(), httpapi.Owner(c)
		turn := s.turns.GetOr(owner, func() chan struct{} { return make(chan struct{}, 1) })
		select {
		case turn <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		leave := sync.OnceFunc(func() { <-turn })
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
