package runs

import (
	"bytes"
	"encoding/json"
	"time"

	"sandgate/internal/testresults"
	"sandgate/sandboxclient"
	"sandgate/sandboxclient/wire"
)

// Types of events that only runs have.
const (
	eventQueued = "queued"
	eventPhase  = "phase"
)

// States of a phase, as its events tell them.
const (
	phaseStarted = "started"
	phaseEnded   = "ended"
)

// head is what every event has.
type head struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
}

func newHead(kind string, at time.Time) head { return head{kind, at.UTC()} }

type startEvent struct {
	head
	Run        string `json:"run"`
	Repository string `json:"repository"`
	Ref        string `json:"ref,omitempty"`
	Command    string `json:"command"`
	Restored   string `json:"restored,omitempty"`
}

type queuedEvent struct {
	head
	Position int `json:"position"`
}

type phaseEvent struct {
	head
	Phase      string   `json:"phase"`
	State      string   `json:"state"`
	Command    string   `json:"command,omitempty"`
	DurationMS *float64 `json:"durationMs,omitempty"`
	ExitCode   *int     `json:"exitCode,omitempty"`
	Status     string   `json:"status,omitempty"` // unless it exited
	Signal     string   `json:"signal,omitempty"`
	Commit     string   `json:"commit,omitempty"`
	Backup     *Kept    `json:"backup,omitempty"`
}

type outputEvent struct {
	head
	Data string `json:"data"`
}

type warningEvent struct {
	head
	Code    string `json:"code"`
	Message string `json:"message"`
}

type completeEvent struct {
	head
	Status          string               `json:"status"`
	ExitCode        *int                 `json:"exitCode,omitempty"` // of a program that ran
	Signal          string               `json:"signal,omitempty"`
	DurationMS      float64              `json:"durationMs"`
	Phase           string               `json:"phase,omitempty"`
	Results         *testresults.Results `json:"results,omitempty"`
	ResultsDisagree bool                 `json:"resultsDisagree,omitempty"`
	Artifacts       []Artifact           `json:"artifacts"`
	Truncated       bool                 `json:"truncated,omitempty"`
}

type errorEvent struct {
	head
	Code    sandboxclient.Code `json:"code"`
	Message string             `json:"message"`
	Phase   string             `json:"phase,omitempty"`
}

// encode gives one line of JSON, without its line feed. Signs like < stay as
// they are: no event is ever read as HTML.
func encode(event any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(event); err != nil {
		panic(err) // the types above can all be encoded
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// terminal gives the last event of a run as its summary tells it.
func terminal(s Summary) []byte {
	if s.Error != nil {
		return encode(errorEvent{newHead(wire.EventError, *s.EndedAt), s.Error.Code, s.Error.Message, s.Phase})
	}
	return encode(completeEvent{
		head:   newHead(wire.EventComplete, *s.EndedAt),
		Status: s.Status, ExitCode: s.ExitCode, Signal: s.Signal, DurationMS: s.DurationMS, Phase: s.Phase,
		Results: s.Results, ResultsDisagree: s.ResultsDisagree, Artifacts: s.Artifacts, Truncated: s.Truncated,
	})
}

// A told event is one read back from a log: all fields that any event has.
type told struct {
	head
	Phase           string
	State           string
	Command         string
	Commit          string
	Data            string
	Code            sandboxclient.Code
	Message         string
	Status          string
	ExitCode        *int
	Signal          string
	DurationMS      *float64
	Results         *testresults.Results
	ResultsDisagree bool
	Artifacts       []Artifact
	Truncated       bool
	Backup          *Kept
}

func decode(event []byte) (told, error) {
	var t told
	err := json.Unmarshal(event, &t)
	return t, err
}
