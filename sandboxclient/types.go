package sandboxclient

import (
	"io"
	"time"

	"sandgate/sandboxclient/wire"
)

// The values that cross from sandboxd to a caller as they are.
type (
	Event       = wire.Event
	Exit        = wire.Exit
	Status      = wire.Status
	Result      = wire.Result
	CodeError   = wire.CodeError
	FileInfo    = wire.FileInfo
	Listing     = wire.Listing
	CodeContext = wire.ContextInfo
	Execution   = wire.ExecutionInfo
)

// How the kernel behind a cell came about.
const (
	StartFresh     = "fresh"     // the context's first
	StartWoken     = "woken"     // its sandbox was asleep, and its variables are there
	StartRestarted = "restarted" // a new one: the variables of the one before are gone
	StartRunning   = "running"   // it was there already
)

// RunOptions says how a cell runs. The zero value runs Python in the default
// context with the client's default timeout.
type RunOptions struct {
	Language string        // wire.Python when empty
	Context  string        // the context's id; "default-<language>" when empty
	Stdin    []byte        // what input() reads; at its end: EOF
	Timeout  time.Duration // 0: the client's default; above its ceiling: the ceiling
	Detach   bool          // go on when the caller leaves
	// Execution is the execution's id; a new one when empty.
	Execution string
}

// Run is a cell that has ended, however badly.
type Run struct {
	Execution string // the execution's id
	Stdout    string // valid UTF-8; invalid bytes became U+FFFD
	Stderr    string
	Results   []Result
	Exit      Exit
	Start     string // StartFresh, StartWoken, StartRestarted or StartRunning
	// Generation counts the kernels that this context ever had, across
	// sandboxes and gateways: it grows whenever variables were lost.
	Generation int
	// Restart says why the kernel before this cell's ended, if Start is StartRestarted.
	Restart string
	// Background is what earlier cells' leftovers printed, already part of Stdout and Stderr.
	Background bool
}

// Command is one program to run to its end, with its whole process tree.
type Command struct {
	Argv    []string
	Env     map[string]string // added to the default environment
	Dir     string            // absolute; /workspace when empty
	Stdin   []byte
	Timeout time.Duration // 0: the client's default; above its ceiling: the ceiling
	Keep    int64         // bytes of output kept; 0: the client's default
	Max     int64         // bytes of output borne; 0: the client's default
	Detach  bool          // go on when the caller leaves
	// Execution is the execution's id; a new one when empty.
	Execution string
}

// ExecResult is a command that has ended, however badly.
type ExecResult struct {
	Execution string
	Stdout    []byte
	Stderr    []byte
	Exit      Exit
}

// ReadOptions are the conditions of a read, as HTTP words them; empty ones are not sent.
type ReadOptions struct {
	Head              bool // everything but the bytes
	Range             string
	IfRange           string
	IfMatch           string
	IfNoneMatch       string
	IfModifiedSince   string
	IfUnmodifiedSince string
}

// File is what a path holds: bytes, or a directory's Listing.
type File struct {
	Status       int // 200, 206, 304 or 416, as the conditions ask
	Listing      *Listing
	Size         int64 // of Body; -1 when unknown
	ContentRange string
	ETag         string
	LastModified string
	Body         io.ReadCloser // never nil; the caller closes it
}

// WriteOptions are the conditions of a write; empty ones are not sent.
type WriteOptions struct {
	IfMatch     string
	IfNoneMatch string
	MaxBytes    int64 // 0: no bound but the disk
}

// Record is what the database keeps about a sandbox.
type Record struct {
	ID        ID
	Ref       Ref
	CreatedAt time.Time
	LastUsed  time.Time
}
