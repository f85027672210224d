package runs

import (
	"context"
	"encoding/json"
	"time"
)

// State says how far a run's record is.
type State string

// The states, in the order in which a run goes through them.
const (
	StateQueued  State = "queued"  // it waits for its turn
	StateRunning State = "running" // it has, or should have, a sandbox
	StateEnded   State = "ended"   // its summary is the last one
)

// Record is what the database keeps of a run. Times are kept to the
// microsecond, in UTC.
type Record struct {
	ID        string
	Owner     string
	State     State
	CreatedAt time.Time
	EndedAt   time.Time // zero until it has ended

	Summary  json.RawMessage // what viewers are shown
	Progress json.RawMessage // what the engine needs to take the run up again after a restart

	ObjectBytes int64 // of its artifacts, and of its log once it has ended; Records need not give it back
}

// Position is where a list of runs goes on: after the run that was created
// then and has this id. The zero Position is before the newest.
type Position struct {
	CreatedAt time.Time
	ID        string
}

// Position gives where a list goes on after this run.
func (r Record) Position() Position { return Position{r.CreatedAt, r.ID} }

// Records keeps runs over restarts. Its methods may be called from many
// goroutines; what has been saved survives a crash of the gateway.
type Records interface {
	// SaveRun makes the record or replaces it. Owner and CreatedAt stay what they
	// were when it was made.
	SaveRun(ctx context.Context, r Record) error

	// Run gives one run of an owner, or a *sandboxclient.Error not_found: for a
	// run of somebody else as for one that there never was.
	Run(ctx context.Context, owner, id string) (Record, error)

	// ListRuns gives at most limit runs of an owner after a position, newest
	// first, without their Progress.
	ListRuns(ctx context.Context, owner string, after Position, limit int) ([]Record, error)

	// UnfinishedRuns gives everybody's runs that have not ended, oldest first.
	UnfinishedRuns(ctx context.Context) ([]Record, error)
}

// Retention forgets runs. Who uses it deletes a run's objects first and its
// record last: then nothing is left over that no record leads to, wherever the
// gateway is killed.
type Retention interface {
	// EndedRuns gives at most limit runs of everybody that ended before a time,
	// those that ended first to begin with, without their Progress.
	EndedRuns(ctx context.Context, before time.Time, limit int) ([]Record, error)

	// DeleteRun forgets a run; one that is not there is no error.
	DeleteRun(ctx context.Context, id string) error

	// KnowsRun says whether there is a run with the id, whoever's it is.
	KnowsRun(ctx context.Context, id string) (bool, error)
}
