package runs

import (
	"regexp"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"sandgate/sandboxclient"
)

// Bounds on what a visitor may ask for.
const (
	maxCommand     = 64 << 10
	maxVariables   = 100
	maxEnvironment = 64 << 10
	maxGlobs       = 32
	maxGlob        = 500
	// Alternatives multiply; more of them than these could take for ever to match.
	maxBraces = 4
	maxCommas = 16
)

// A Request is what a visitor wants to be run.
type Request struct {
	Repository string // its address; credentials in it are used and never kept
	Ref        string // branch, tag or commit; empty: the default branch
	// Command takes the place of installing and testing; empty: the commands
	// that fit the repository's lock file, then npm test.
	Command    string
	Env        map[string]string
	Timeout    time.Duration // of the whole run, from its turn on; 0: the engine's
	Artifacts  []string      // globs below the repository
	Submodules bool
	LFS        bool

	Backup  *Keep  // what is kept of the prepared directory; nil: nothing
	Restore string // the id of the backup that takes the place of the repository
	// Apps are those whose backups may be restored; none: all.
	Apps []string
}

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)

// check refuses what no run could do anything with; the repository is for
// Checkout to judge.
func (r Request) check() error {
	switch {
	case len(r.Command) > maxCommand:
		return invalid("The command is longer than %d bytes", maxCommand)
	case strings.ContainsRune(r.Command, 0):
		return invalid("The command holds a NUL byte")
	case r.Timeout < 0:
		return invalid("The timeout must be more than 0")
	}
	if err := checkEnv(r.Env); err != nil {
		return err
	}
	if err := r.checkPrepared(); err != nil {
		return err
	}
	return checkGlobs(r.Artifacts)
}

func checkEnv(env map[string]string) error {
	if len(env) > maxVariables {
		return invalid("There are %d variables in env, and %d is the most", len(env), maxVariables)
	}
	size := 0
	for name, value := range env {
		if !variable.MatchString(name) {
			return invalid("env names a variable %.40q, which cannot be set", name)
		}
		if strings.ContainsRune(value, 0) {
			return invalid("The variable %s in env holds a NUL byte", name)
		}
		size += len(name) + len(value)
	}
	if size > maxEnvironment {
		return invalid("The variables in env are longer than %d bytes together", maxEnvironment)
	}
	return nil
}

func checkGlobs(globs []string) error {
	if len(globs) > maxGlobs {
		return invalid("There are %d globs in artifacts, and %d is the most", len(globs), maxGlobs)
	}
	for _, glob := range globs {
		switch {
		case glob == "" || len(glob) > maxGlob || !doublestar.ValidatePattern(glob):
			return invalid("artifacts holds %.60q, which is no glob such as coverage/**/*.json", glob)
		case strings.Count(glob, "{") > maxBraces || strings.Count(glob, ",") > maxCommas:
			return invalid("artifacts holds %.60q, which has too many alternatives", glob)
		case strings.HasPrefix(glob, "/") || slashed(glob, ".."):
			return invalid("artifacts holds %.60q, which does not stay in the repository", glob)
		}
	}
	return nil
}

// slashed says whether one of a path's names is name.
func slashed(path, name string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if part == name {
			return true
		}
	}
	return false
}

func invalid(format string, args ...any) *sandboxclient.Error {
	return sandboxclient.Errorf(sandboxclient.CodeInvalid, format, args...)
}
