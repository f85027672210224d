package shim

import (
	"context"
	"os"
	"syscall"
	"time"
)

// Command is a program to start as the sandbox user in a session of its own.
// Files become its descriptors 0, 1, 2 and so on; the caller closes its own
// copies after Start.
type Command struct {
	Argv  []string
	Env   []string
	Dir   string
	Files []*os.File
}

// Tree is a started program with all its descendants.
type Tree interface { //nolint:interfacebloat // one program; a kernel needs all of it
	// Pid is the program's process id.
	Pid() int
	// Signal sends a signal to the program alone.
	Signal(sig syscall.Signal) error
	// KillSince kills the descendants (not the program itself) that were
	// started at or after t, and what they started in turn. Systems tell start
	// times in hundredths of a second: what was started some 20 ms before t may
	// be killed as well, never the other way round.
	KillSince(t time.Time) error
	// Kill ends the program and all its descendants; Done follows.
	Kill()
	// Done is closed when the program has ended and no descendant is left.
	Done() <-chan struct{}
	// Status is the program's wait status, once Done is closed.
	Status() syscall.WaitStatus
}

// Starter starts programs. A program that cannot be started is an error: a
// *StartError when argv, dir or the like are at fault.
type Starter interface {
	Start(ctx context.Context, cmd Command) (Tree, error)
}

// StartError says why a program could not be started; Errno is the kernel's word.
type StartError struct {
	Argv0 string
	Errno syscall.Errno
}

func (e *StartError) Error() string { return e.Argv0 + ": " + e.Errno.Error() }
