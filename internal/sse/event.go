package sse

import (
	"time"

	"sandgate/sandboxclient"
	"sandgate/sandboxclient/wire"
)

// Event is an event as visitors see it; fields that do not belong to its type
// are left out.
//
//	start     start, generation and restart of a cell
//	stdout    data, background
//	stderr    data, background
//	result    text and the other formats
//	warning   code, message
//	gap       from, to, bytes: events that are no longer kept
//	complete  status, exitCode, signal, durationMs, executionCount, error, truncated, kernelDied
//	error     code, message: we failed, or could not do it
type Event struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`

	Data       *string `json:"data,omitempty"`
	Background bool    `json:"background,omitempty"`

	*sandboxclient.Result
	*wire.Gap
	*exit
	*start

	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
}

// exit is the end of a program, in which 0 is an answer.
type exit struct {
	Status         sandboxclient.Status     `json:"status"`
	ExitCode       int                      `json:"exitCode"`
	Signal         string                   `json:"signal,omitempty"`
	DurationMS     float64                  `json:"durationMs"`
	ExecutionCount int                      `json:"executionCount,omitempty"`
	Error          *sandboxclient.CodeError `json:"error,omitempty"`
	Truncated      bool                     `json:"truncated,omitempty"`
	KernelDied     string                   `json:"kernelDied,omitempty"`
}

type start struct {
	Start      string `json:"start,omitempty"`
	Generation int    `json:"generation,omitempty"`
	Restart    string `json:"restart,omitempty"`
}

// NewEvent gives the visitors' form of an event.
func NewEvent(e sandboxclient.Event) Event {
	public := Event{
		Type:       e.Type,
		Timestamp:  e.Time.UTC(),
		Background: e.Background,
		Result:     e.Result,
		Gap:        e.Gap,
		Code:       e.Code,
		Message:    e.Message,
	}
	switch {
	case e.Type == wire.EventStdout || e.Type == wire.EventStderr:
		data := sandboxclient.Text(e.Data)
		public.Data = &data
	case e.Exit != nil:
		public.exit = (*exit)(e.Exit)
	case e.Start != nil:
		public.start = &start{e.Start.Origin, e.Start.Generation, e.Start.Reason}
	}
	return public
}
