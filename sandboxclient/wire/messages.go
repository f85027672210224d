package wire

import "time"

// Content types of answers that can be more than one thing.
const (
	ContentTypeEvents  = "application/x-ndjson"
	ContentTypeListing = "application/vnd.sandgate.listing+json"
)

// Health is sandboxd's answer to a handshake.
type Health struct {
	Version   int       `json:"version"`
	StartedAt time.Time `json:"startedAt"`
	Busy      int       `json:"busy"` // executions that have not ended
	// Background counts the processes that cells have started and left running.
	// While a cell runs, what that has started is among them.
	Background int `json:"background,omitempty"`
}

// Output says how much of an execution's output is kept and borne. All
// executions of a sandbox share the room: of one that keeps more than some
// 40 MiB, and of those that keep much when many do, the oldest events may be
// gone before they are read, which a gap tells.
type Output struct {
	Keep int64 `json:"keep"` // bytes kept; what follows is dropped and told as truncated
	Max  int64 `json:"max"`  // bytes borne; beyond it the execution ends as output_limited
}

// ExecRequest asks for one command, run as the sandbox user and ended with its
// whole process tree.
type ExecRequest struct {
	ID        string            `json:"id"` // the execution's id, chosen by the gateway
	Argv      []string          `json:"argv"`
	Env       map[string]string `json:"env,omitempty"` // added to the default environment
	Dir       string            `json:"dir,omitempty"` // absolute; /workspace when empty
	Stdin     []byte            `json:"stdin,omitempty"`
	TimeoutMS int64             `json:"timeoutMs,omitempty"` // 0: none
	Output    Output            `json:"output"`
}

// Languages of code contexts.
const (
	Python     = "python"
	JavaScript = "javascript"
	Bash       = "bash"
)

// ContextSpec names a code context and says what it is when it must be made.
type ContextSpec struct {
	ID       string            `json:"id"`
	Language string            `json:"language"`
	Dir      string            `json:"dir,omitempty"` // absolute; /workspace when empty
	Env      map[string]string `json:"env,omitempty"`
}

// RunRequest asks for one cell. Cells of one context run one after the other,
// in the order of their arrival.
type RunRequest struct {
	ID        string      `json:"id"`
	Context   ContextSpec `json:"context"`
	Code      string      `json:"code"`
	Stdin     []byte      `json:"stdin,omitempty"`
	TimeoutMS int64       `json:"timeoutMs,omitempty"` // counts from the cell's own start; 0: none
	Output    Output      `json:"output"`
}

// WarmRequest asks for a code context whose interpreter starts before anybody
// has a cell for it. Its first cell is told of a kernel that was started for it,
// as if it had been, and may come in another sandbox: one that was restored from
// a checkpoint of this one.
type WarmRequest struct {
	ContextSpec
	Preload []string `json:"preload,omitempty"` // modules to import, of Python; no names are left of it
}

// Warmed is a context whose interpreter waits for its first cell.
type Warmed struct {
	Context ContextInfo     `json:"context"`
	Failed  []FailedPreload `json:"failed,omitempty"` // the other modules are there
}

// FailedPreload is a module that could not be imported.
type FailedPreload struct {
	Module  string `json:"module"`
	Message string `json:"message"` // what it raised, by its name, with its words
}

// ExecutionInfo is the state of a running or kept execution.
type ExecutionInfo struct {
	ID        string    `json:"id"`
	Kind      string    `json:"kind"` // exec or cell
	CreatedAt time.Time `json:"createdAt"`
	FirstSeq  int64     `json:"firstSeq"` // the oldest event still kept
	LastSeq   int64     `json:"lastSeq"`
	Exit      *Exit     `json:"exit,omitempty"`  // set once it has ended
	Error     *Error    `json:"error,omitempty"` // set instead when we failed
}

// States of a code context.
const (
	ContextStarting = "starting"
	ContextIdle     = "idle"
	ContextBusy     = "busy"
	ContextDead     = "dead" // the next cell starts a new kernel
)

// ContextInfo describes a code context.
type ContextInfo struct {
	ID             string    `json:"id"`
	Language       string    `json:"language"`
	Engine         string    `json:"engine,omitempty"` // what runs the cells, "ipython" or "python" say
	State          string    `json:"state"`
	Starts         int       `json:"starts"` // how often a kernel was started for it
	ExecutionCount int       `json:"executionCount"`
	Queued         int       `json:"queued"` // cells waiting for their turn
	CreatedAt      time.Time `json:"createdAt"`
	LastUsed       time.Time `json:"lastUsed"`
	Died           string    `json:"died,omitempty"` // why the last kernel ended
}

// Types of files.
const (
	TypeFile      = "file"
	TypeDirectory = "directory"
	TypeSymlink   = "symlink"
	TypeOther     = "other" // FIFO, socket, device
)

// FileInfo describes one entry of the workspace.
type FileInfo struct {
	Name     string    `json:"name"`
	Type     string    `json:"type"`
	Size     int64     `json:"size"`
	Mode     string    `json:"mode"` // four octal digits: "0644"
	Modified time.Time `json:"modified"`
	ETag     string    `json:"etag,omitempty"`
}

// Listing is a directory's entries, sorted by name.
type Listing struct {
	Path      string     `json:"path"` // absolute
	Entries   []FileInfo `json:"entries"`
	Truncated bool       `json:"truncated"`
}

// RenameRequest moves a file or directory within the workspace.
type RenameRequest struct {
	From    string `json:"from"`
	To      string `json:"to"`
	Replace bool   `json:"replace,omitempty"` // without it an existing target is a conflict
}

// Codes of failures; the gateway's own errors use the same words.
const (
	CodeInvalid            = "invalid"
	CodeForbidden          = "forbidden"
	CodeNotFound           = "not_found"
	CodeConflict           = "conflict"
	CodePreconditionFailed = "precondition_failed"
	CodeTooLarge           = "too_large"
	CodeExhausted          = "exhausted"
	CodeInternal           = "internal"
	CodeUnsupported        = "unsupported"
	CodeUnavailable        = "unavailable"
	CodeNoSpace            = "no_space"
)

// Error is a failed request. Message is meant for the visitor.
type Error struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }
