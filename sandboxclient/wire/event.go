package wire

import (
	"encoding/json"
	"time"
)

// Types of events.
const (
	EventStart    = "start"    // once, first: the program or cell begins
	EventStdout   = "stdout"   // Data
	EventStderr   = "stderr"   // Data
	EventResult   = "result"   // Result
	EventWarning  = "warning"  // Code, Message
	EventGap      = "gap"      // Gap: events no longer kept
	EventComplete = "complete" // Exit; the user's program ended, however badly
	EventError    = "error"    // Code, Message; we failed, or could not do it
)

// Event is one thing that happened in an execution.
type Event struct {
	Seq        int64     `json:"seq"` // counts from 1
	Type       string    `json:"type"`
	Time       time.Time `json:"time"`
	Data       []byte    `json:"data,omitempty"`       // bytes as written; no rune is cut between events
	Background bool      `json:"background,omitempty"` // printed by what an earlier cell left running
	Start      *Start    `json:"start,omitempty"`
	Result     *Result   `json:"result,omitempty"`
	Gap        *Gap      `json:"gap,omitempty"`
	Exit       *Exit     `json:"exit,omitempty"`
	Code       string    `json:"code,omitempty"`
	Message    string    `json:"message,omitempty"`
}

// Terminal says whether nothing follows the event.
func (e Event) Terminal() bool { return e.Type == EventComplete || e.Type == EventError }

// Start tells what an execution runs in.
type Start struct {
	Context       string `json:"context,omitempty"`       // a cell's code context
	KernelStarted bool   `json:"kernelStarted,omitempty"` // a cell's kernel was started for it
	KernelStarts  int    `json:"kernelStarts,omitempty"`  // how many kernels this context has had
	Reason        string `json:"reason,omitempty"`        // why the kernel before it ended; empty for the first

	// The gateway's own knowledge; sandboxd leaves it out.
	Origin     string `json:"origin,omitempty"`     // fresh, restarted, running
	Generation int    `json:"generation,omitempty"` // kernels that the context ever had
}

// Result is a value that a cell displayed or ended with, under the short names
// of its MIME types. Text is always there.
type Result struct {
	Text       string          `json:"text"`
	HTML       string          `json:"html,omitempty"`
	PNG        string          `json:"png,omitempty"`  // base64
	JPEG       string          `json:"jpeg,omitempty"` // base64
	SVG        string          `json:"svg,omitempty"`
	JSON       json.RawMessage `json:"json,omitempty"`
	LaTeX      string          `json:"latex,omitempty"`
	Markdown   string          `json:"markdown,omitempty"`
	JavaScript string          `json:"javascript,omitempty"`
}

// Gap names the events that are no longer kept.
type Gap struct {
	From  int64 `json:"from"`
	To    int64 `json:"to"`
	Bytes int64 `json:"bytes"` // of output that they held
}

// A Status says how a program ended. It is an error as well, so that it can be
// the cause with which a context is cancelled.
type Status string

// The ways a program can end.
const (
	StatusExited        Status = "exited"         // by itself; see ExitCode
	StatusSignaled      Status = "signaled"       // by a signal that we did not send; see Signal
	StatusTimedOut      Status = "timed_out"      // ended by us at its deadline
	StatusOOMKilled     Status = "oom_killed"     // ended because memory ran out
	StatusOutputLimited Status = "output_limited" // ended by us for printing too much
	StatusCanceled      Status = "canceled"       // ended by us because somebody asked
)

func (s Status) Error() string { return string(s) }

// Exit is how a program or a cell ended.
type Exit struct {
	Status         Status     `json:"status"`
	ExitCode       int        `json:"exitCode"` // 128+n for signal n; a cell: 0, or 1 with an Error
	Signal         string     `json:"signal,omitempty"`
	DurationMS     float64    `json:"durationMs"`
	ExecutionCount int        `json:"executionCount,omitempty"` // of a cell
	Error          *CodeError `json:"error,omitempty"`          // of a cell
	Truncated      bool       `json:"truncated,omitempty"`      // output was dropped
	KernelDied     string     `json:"kernelDied,omitempty"`     // why the cell took its kernel with it
}

// CodeError is an exception that ended a cell, a syntax error included.
type CodeError struct {
	Name       string   `json:"name"`
	Message    string   `json:"message"`
	Traceback  []string `json:"traceback"` // lines without colour, the user's frames only
	LineNumber int      `json:"lineNumber,omitempty"`
}

// Size is about how many bytes the result holds.
func (r Result) Size() int64 {
	const overhead = 64
	return int64(overhead + len(r.Text) + len(r.HTML) + len(r.PNG) + len(r.JPEG) + len(r.SVG) +
		len(r.JSON) + len(r.LaTeX) + len(r.Markdown) + len(r.JavaScript))
}
