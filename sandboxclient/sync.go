package sandboxclient

import (
	"context"
	"errors"
	"sync"
	"syscall"
	"time"
)

// A Syncer is the power of a driver to bring all that was written into a
// sandbox's workspace to the disk, so that a loss of power takes none of it. Nobody
// inside can: what gVisor flushes there is the files that it still has open.
type Syncer interface {
	Sync(ctx context.Context, id ID) error
}

// lasting brings what some work has written to the disk, if it came to its end.
func (s *Sandbox) lasting(ctx context.Context, err error) error {
	if err != nil || s.client.syncer == nil {
		return err
	}
	err = s.client.syncer.Sync(ctx, s.id)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return DiskFull(err)
	}
	return &Error{Code: CodeInternal, Message: "What was written did not reach the disk", Err: err}
}

// flushPause lies between two flushes while something is written.
const flushPause = 200 * time.Millisecond

// lastingWork is lasting for work that writes much. Flushes go on beside it, so
// that little is left for the one at its end.
func (s *Sandbox) lastingWork(ctx context.Context, work func() error) error {
	flushing, stop := context.WithCancel(ctx)
	var flushes sync.WaitGroup
	if s.client.syncer != nil {
		flushes.Go(func() { s.flush(flushing) })
	}
	err := work()
	stop()
	flushes.Wait()
	return s.lasting(ctx, err)
}

// flush flushes again and again until ctx ends, or it fails: the last flush tells.
func (s *Sandbox) flush(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(flushPause):
		}
		if s.client.syncer.Sync(ctx, s.id) != nil {
			return
		}
	}
}
