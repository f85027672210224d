package backups

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"sandgate/sandboxclient"
)

// Bounds on what a visitor may ask for.
const (
	// DefaultTTL is for how long a backup is kept whose request does not say.
	DefaultTTL = 72 * time.Hour

	maxTTL      = 366 * 24 * time.Hour
	maxLabel    = 256
	maxExcludes = 100
	maxExclude  = 500
)

// A Backup is a directory of a sandbox as it was.
type Backup struct {
	ID        string    `json:"id"`
	Owner     string    `json:"-"`
	App       string    `json:"app"`
	Name      string    `json:"name"`
	Dir       string    `json:"dir"`
	Label     string    `json:"label"`
	Size      int64     `json:"sizeBytes"` // of the archive
	Files     int64     `json:"files"`
	Content   int64     `json:"contentBytes"`      // of the files
	Skipped   int64     `json:"skipped,omitempty"` // sockets, FIFOs and devices, which it does not hold
	Changed   int64     `json:"changed,omitempty"` // files that changed while they were read
	Checksum  string    `json:"checksum"`
	CreatedAt time.Time `json:"createdAt"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// Path is where a backup is found.
func Path(id string) string { return "/v1/backups/" + id }

// A Request says what is to be backed up.
type Request struct {
	Dir       string // /workspace when empty
	Label     string
	TTL       time.Duration // 0: DefaultTTL
	Excludes  []string      // in git's notation
	Gitignore bool          // leave out what .gitignore files do
}

// check fills in what was left open, and refuses what cannot be.
func (r *Request) check() error {
	if r.TTL == 0 {
		r.TTL = DefaultTTL
	}
	dir, err := Dir(r.Dir)
	if err != nil {
		return err
	}
	r.Dir = dir
	switch {
	case r.TTL < time.Second || r.TTL > maxTTL:
		return invalid("ttl is a second at least and a year at most")
	case !utf8.ValidString(r.Label) || utf8.RuneCountInString(r.Label) > maxLabel || strings.ContainsFunc(r.Label, unicode.IsControl):
		return invalid("A label has at most %d characters, none of them a control character", maxLabel)
	case len(r.Excludes) > maxExcludes:
		return invalid("There are %d excludes, and %d is the most", len(r.Excludes), maxExcludes)
	}
	for _, exclude := range r.Excludes {
		if len(exclude) > maxExclude {
			return invalid("excludes holds %.60q, which is longer than %d bytes", exclude, maxExclude)
		}
	}
	return nil
}

// Dir gives the absolute form of a directory that a visitor typed, which is
// /workspace when it is empty.
func Dir(dir string) (string, error) {
	if dir == "" {
		return sandboxclient.WorkspaceDir, nil
	}
	resolved, ok := sandboxclient.ResolveWorkspacePath(dir)
	if !ok {
		return "", invalid("Paths must stay inside /workspace")
	}
	return resolved, nil
}

// Restored is what came of a restore.
type Restored struct {
	ID      string `json:"id"` // the backup's
	App     string `json:"app"`
	Name    string `json:"name"`
	Dir     string `json:"dir"`
	Files   int64  `json:"files"`
	Content int64  `json:"contentBytes"`
	Restart string `json:"restart,omitempty"` // why the sandbox has lost what it had in memory
}

// Progress is told how far a backup or restore has come: bytes of the archive,
// and how many there will be, 0 when that is not known.
type Progress func(done, of int64)

// ErrNotFound is a backup that there is not, or that is somebody else's.
var ErrNotFound = sandboxclient.Errorf(sandboxclient.CodeNotFound, "There is no such backup")

func invalid(format string, args ...any) error {
	return sandboxclient.Errorf(sandboxclient.CodeInvalid, format, args...)
}

// now is the time as the database keeps it.
func now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }
