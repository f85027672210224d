package sandboxclient

import (
	"log/slog"
	"time"
)

// A Share is what one owner may have of the gateway's sandboxes. Zero: as much
// as the gateway has.
type Share struct {
	Existing  int   // sandboxes with a workspace, running or not
	Running   int   // at the same time
	DiskBytes int64 // that their workspaces may fill, all together

	// Refused, if set, is told of everything that is refused for want of one of
	// these: "sandboxes", "running" or "disk". It must not block.
	Refused func(limit string)
}

func (s Share) refused(limit string) {
	if s.Refused != nil {
		s.Refused(limit)
	}
}

// withinShare says why an owner may have no further sandbox; c.mu is held.
func (c *census) withinShare(ref Ref, share Share) error {
	if share.Existing <= 0 && share.DiskBytes <= 0 {
		return nil
	}
	count, disk := 0, c.disk(ref.App)
	for _, other := range c.existing {
		if other.Owner == ref.Owner {
			count++
			disk += c.disk(other.App)
		}
	}
	if share.Existing > 0 && count >= share.Existing {
		share.refused("sandboxes")
		return full(time.Minute, "You have as many sandboxes as you may, %d: remove one that is not needed any more, for example with DELETE /notebook?notebook=NAME&files=true", count)
	}
	if share.DiskBytes > 0 && disk > share.DiskBytes {
		share.refused("disk")
		return Errorf(CodeNoSpace, "One more workspace could make yours larger than the %d MiB that you may fill: remove a sandbox that is not needed any more, for example with DELETE /notebook?notebook=NAME&files=true", share.DiskBytes>>20)
	}
	return nil
}

// mayRun says why an owner may have no further sandbox running; c.mu is held.
func (c *census) mayRun(owner string, share Share) error {
	most := share.Running
	if most <= 0 || c.runs[owner] < most {
		return nil
	}
	share.refused("running")
	return full(5*time.Second, "As many sandboxes of yours run as may, %d: end one, or wait until one has been idle for long enough", most)
}

// full says whether an owner has as many sandboxes running as it may.
func (c *census) full(owner string) bool {
	most := c.share(owner).Running
	c.mu.Lock()
	defer c.mu.Unlock()
	return most > 0 && c.runs[owner] >= most
}

// levelOf says how much an operator should mind a start that failed: one too many
// is what bounds are for, and a disk is full for everybody or for one owner.
func levelOf(err error) slog.Level {
	switch CodeOf(err) {
	case CodeExhausted:
		return slog.LevelInfo
	case CodeNoSpace:
		return slog.LevelWarn
	}
	return slog.LevelError
}
