package sandboxclient

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A Hibernator is the power of a driver to put a sandbox to disk with its
// processes, and to let it go on from there.
//
// What Hibernate wrote is used up when Wake begins to start the sandbox, whatever
// comes of it: to wake twice from the same moment would set variables back under
// files that have gone on.
// Destroy removes it as well.
type Hibernator interface {
	// CanHibernate says whether this driver's engine has the power at all.
	CanHibernate() bool

	// Hibernate writes a sandbox's memory to disk, with a note, and ends it.
	// ErrAwake means that it was refused before anything was done, and that the
	// sandbox runs on. After any other error the sandbox is gone, and its
	// workspace whole.
	Hibernate(ctx context.Context, id ID, note []byte) error

	// Wake starts a hibernated sandbox where it was. ErrNotAsleep: it is not
	// hibernated. A [*LostError] says why what was written cannot be used; the
	// sandbox does not run then, and its memory is gone. After any other error it
	// sleeps on, and may wake at the next attempt.
	Wake(ctx context.Context, spec Spec) error

	// Asleep tells of a hibernated sandbox; ErrNotAsleep when it is none.
	Asleep(id ID) (Checkpoint, error)
}

// A Checkpoint is a sandbox's memory on disk.
type Checkpoint struct {
	At    time.Time
	Bytes int64  // on disk
	Note  []byte // what Hibernate was given
}

// Errors of hibernation.
var (
	ErrAwake     = errors.New("sandbox runs on")
	ErrNotAsleep = errors.New("sandbox is not hibernated")
)

// A Templater is the power of a driver to let sandboxes begin with the memory of
// another, which was warmed for them.
type Templater interface {
	// HasTemplate says whether a sandbox of this spec would begin so.
	HasTemplate(spec Spec) bool

	// MakeTemplate writes the memory of a running sandbox to disk as the template
	// of its spec, and ends its processes. The sandbox must not have touched its
	// workspace; it is still to be destroyed.
	MakeTemplate(ctx context.Context, spec Spec) error

	// DropTemplate gives up the template of a spec, if there is one: what began with
	// it never answered.
	DropTemplate(spec Spec)
}

// A LostError says, in words for its user, why a sandbox's memory is lost.
type LostError struct {
	Why string
	Err error // for the log; may be nil
}

func (e *LostError) Error() string {
	if e.Err == nil {
		return e.Why
	}
	return fmt.Sprintf("%s: %v", e.Why, e.Err)
}

func (e *LostError) Unwrap() error { return e.Err }

// An Assigner is the power of a driver to give a running sandbox another id.
type Assigner interface {
	// Assign gives the sandbox from, with its workspace, to an id that has nothing
	// yet; ErrExists when it has.
	Assign(ctx context.Context, from, to ID) error
}
