package sandboxclient

import (
	"context"
	"errors"
	"syscall"
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
