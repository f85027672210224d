package sandboxclient

import (
	"context"
)

// A Roomer is the power of a driver to tell how many bytes its disk still has
// room for. Workspaces may promise more than the disk has, and what was written
// into one reaches the disk later: only who asks first learns that it cannot.
type Roomer interface {
	Room(ctx context.Context) (bytes int64, err error)
}

// DiskFull is the error of what an engine's disk has no room for.
func DiskFull(cause error) *Error {
	return &Error{Code: CodeNoSpace, Message: "The disk of this gateway is full", Err: cause}
}

// fit bounds a write to what the disk has room for. The function it returns
// tells a write that was too large for the disk from one too large for its caller.
func (c *Client) fit(ctx context.Context, most int64) (int64, func(error) error, error) {
	same := func(err error) error { return err }
	if c.roomer == nil {
		return most, same, nil
	}
	room, err := c.roomer.Room(ctx)
	if err != nil {
		return 0, nil, &Error{Code: CodeInternal, Message: "The disk could not be looked at", Err: err}
	}
	if room <= 0 {
		return 0, nil, DiskFull(nil)
	}
	if most > 0 && most <= room {
		return most, same, nil
	}
	return room, func(err error) error {
		if err != nil && CodeOf(err) == CodeTooLarge {
			return DiskFull(err)
		}
		return err
	}, nil
}
