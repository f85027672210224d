package sandboxclient

import (
	"context"
	"errors"
	"net"
)

// A Driver makes, lists, dials and destroys sandboxes on one engine. All work
// inside a sandbox goes through sandboxd, over the connections that Dial gives.
//
// Methods may be called from many goroutines; the client never runs Create and
// Destroy of one id at the same time. They honour ctx, and what fails half-way
// leaves nothing behind but the workspace.
type Driver interface {
	// Create starts a sandbox on its workspace, which is made when it is not
	// there. It returns once the engine runs; whether sandboxd answers is for
	// Dial and a handshake to show. An id that exists already is ErrExists.
	Create(ctx context.Context, spec Spec) error

	// List names every sandbox that the engine knows of, the dead ones included.
	List(ctx context.Context) ([]ID, error)

	// Dial gives a new connection to a sandbox's sandboxd, with its hello
	// already read and checked. It waits for one until ctx ends; a sandbox that
	// is not there, or whose processes are gone, is ErrGone at once.
	Dial(ctx context.Context, id ID) (net.Conn, error)

	// Destroy ends a sandbox and everything it ran. It is idempotent: an id
	// that is not there is no error. The workspace stays unless asked.
	Destroy(ctx context.Context, id ID, workspace Workspace) error
}

// Workspace says what Destroy does with /workspace.
type Workspace int

// The two fates of a workspace.
const (
	KeepWorkspace Workspace = iota
	RemoveWorkspace
)

// Errors of drivers.
var (
	ErrGone   = errors.New("sandbox is gone")
	ErrExists = errors.New("sandbox exists already")
)

// Spec is what a driver needs to start a sandbox.
type Spec struct {
	ID     ID
	Limits Limits
	// Template names the memory that the sandbox begins with, if the driver has
	// one of this name for these limits; "" and where there is none: an empty one.
	Template string
}

// Limits bound one sandbox. A driver says how it holds them, or that it cannot.
type Limits struct {
	MemoryBytes int64   // swap included
	CPUs        float64 // a share of time; the count seen inside is rounded up
	Processes   int     // of the sandbox user, threads counted
	OpenFiles   int     // per process
	TmpBytes    int64   // of each disposable tree: /tmp, /home/sandbox, /dev/shm
	// WorkspaceBytes are those of /workspace, with what its file system needs for
	// itself; the number of files follows from it. 0: no limit.
	WorkspaceBytes int64
}

// DefaultLimits are safe on a small machine.
func DefaultLimits() Limits {
	return Limits{
		MemoryBytes: 1 << 30, CPUs: 1, Processes: 512, OpenFiles: 4096,
		TmpBytes: 256 << 20, WorkspaceBytes: 2 << 30,
	}
}
