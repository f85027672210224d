package runs

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"sandgate/internal/testresults"
	"sandgate/sandboxclient"
)

// Phases of a run.
const (
	PhaseClone   = "clone"
	PhaseInstall = "install"
	PhaseTest    = "test"
)

// Statuses of a run beside those in which its programs can end.
const (
	StatusQueued  = "queued"
	StatusRunning = "running"
	StatusError   = "error" // we failed, or could not do it; see Error
)

// DefaultCommand is what is run when the visitor names no command, and the
// repository's lock file asks for nothing else.
const DefaultCommand = "npm ci && npm test"

// Summary is what viewers are told of a run.
type Summary struct {
	ID              string               `json:"id"`
	Repository      string               `json:"repository"` // without credentials
	Ref             string               `json:"ref,omitempty"`
	Commit          string               `json:"commit,omitempty"`
	Command         string               `json:"command"`
	Phase           string               `json:"phase,omitempty"`
	Status          string               `json:"status"`
	ExitCode        *int                 `json:"exitCode,omitempty"`
	Signal          string               `json:"signal,omitempty"`
	CreatedAt       time.Time            `json:"createdAt"`
	StartedAt       *time.Time           `json:"startedAt,omitempty"` // its turn began
	EndedAt         *time.Time           `json:"endedAt,omitempty"`
	DurationMS      float64              `json:"durationMs,omitempty"` // from startedAt to endedAt
	Results         *testresults.Results `json:"results,omitempty"`
	ResultsDisagree bool                 `json:"resultsDisagree,omitempty"` // with the exit code: never take it for a success
	Artifacts       []Artifact           `json:"artifacts"`
	Truncated       bool                 `json:"truncated,omitempty"`  // output was dropped
	OwnCommand      bool                 `json:"ownCommand,omitempty"` // command is what the visitor named, and not the usual ones
	Restored        string               `json:"restored,omitempty"`   // the id of the backup that it started from
	Backup          *Kept                `json:"backup,omitempty"`     // of what it prepared
	Error           *Problem             `json:"error,omitempty"`
}

// A Problem is why we ended a run.
type Problem struct {
	Code    sandboxclient.Code `json:"code"`
	Message string             `json:"message"`
}

// An Artifact is a file that a run left, kept as an object. Its name is its
// path below the repository.
type Artifact struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
	URL  string `json:"url"` // path below the gateway's address
}

// Ended says whether the summary is the last one.
func (s Summary) Ended() bool { return s.EndedAt != nil }

// Path is where a run is found.
func Path(id string) string { return "/tests/" + id }

// ArtifactPath is where an artifact of a run is found.
func ArtifactPath(id, name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return Path(id) + "/artifacts/" + strings.Join(parts, "/")
}

// A promise is what must be known to take a run up again: the visitor's
// request, and when its turn began.
type promise struct {
	Ref        string            `json:"ref,omitempty"`
	Command    string            `json:"command,omitempty"`
	Env        map[string]string `json:"env,omitempty"`
	TimeoutMS  int64             `json:"timeoutMs"`
	Artifacts  []string          `json:"artifacts,omitempty"`
	Submodules bool              `json:"submodules,omitempty"`
	LFS        bool              `json:"lfs,omitempty"`
	// Secret means that the repository's address had credentials, which are not
	// here: it cannot be cloned after a restart.
	Secret bool `json:"secret,omitempty"`

	Backup  *Keep  `json:"backup,omitempty"`
	Restore string `json:"restore,omitempty"`
}

func newPromise(req Request, timeout time.Duration) promise {
	return promise{
		Ref: req.Ref, Command: req.Command, Env: req.Env, TimeoutMS: timeout.Milliseconds(),
		Artifacts: req.Artifacts, Submodules: req.Submodules, LFS: req.LFS,
		Secret: hasCredentials(req.Repository),
		Backup: req.Backup, Restore: req.Restore,
	}
}

// record gives the record of a run in the form of the database.
func record(owner string, state State, s Summary, p promise) (Record, error) {
	r := Record{ID: s.ID, Owner: owner, State: state, CreatedAt: s.CreatedAt}
	if s.EndedAt != nil {
		r.EndedAt = *s.EndedAt
	}
	for _, a := range s.Artifacts {
		r.ObjectBytes += a.Size
	}
	var err error
	if r.Summary, err = json.Marshal(s); err != nil {
		return Record{}, err
	}
	if state == StateEnded { // it will not be taken up again, and the environment is nobody's business
		return r, nil
	}
	r.Progress, err = json.Marshal(p)
	return r, err
}

// summary reads a record back.
func (r Record) summary() (Summary, error) {
	var s Summary
	if err := json.Unmarshal(r.Summary, &s); err != nil {
		return Summary{}, fmt.Errorf("summary of run %s: %w", r.ID, err)
	}
	return s, nil
}
