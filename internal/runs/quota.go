package runs

import (
	"context"
	"math"
)

// A Quota bounds what an owner keeps.
type Quota interface {
	// Room is how many bytes more an owner may keep.
	Room(ctx context.Context, owner string) (int64, error)
	// NoRoom is what an owner is told who may keep nothing more.
	NoRoom(owner string) error
}

// unbounded is the quota where there is none.
type unbounded struct{}

func (unbounded) Room(context.Context, string) (int64, error) { return math.MaxInt64, nil }
func (unbounded) NoRoom(string) error                         { return nil }

// checkRoom refuses an owner a run of which nothing could be kept. Its log counts
// once it has ended.
func (e *Engine) checkRoom(ctx context.Context, owner string) error {
	room, err := e.opts.Quota.Room(ctx, owner)
	if err == nil && room <= 0 {
		err = e.opts.Quota.NoRoom(owner)
	}
	return err
}
