package identity

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Key is what the database knows of a key.
type Key struct {
	ID       string
	Hash     []byte // of the secret
	Owner    string
	Label    string // for people
	Class    string
	Apps     []string
	ReadOnly bool
	Admin    bool

	CreatedAt time.Time
	ExpiresAt time.Time // zero: never
	RevokedAt time.Time // zero: it was not
	LastUsed  time.Time // zero: it was not, yet
}

// Keys are the records of keys. What is not there is an error with the code
// not_found.
type Keys interface {
	Key(ctx context.Context, id string) (Key, error)
	// KeyUsed notes when a key was used last.
	KeyUsed(ctx context.Context, id string, at time.Time) error
}

// identity is whom the key stands for.
func (k Key) identity() Identity {
	return Identity{Owner: k.Owner, Key: k.ID, Class: k.Class, Apps: k.Apps, ReadOnly: k.ReadOnly, Admin: k.Admin}
}

// active is the state of a key that is good.
const active = "active"

// State says in a word what became of the key: active, revoked or expired.
func (k Key) State(now time.Time) string {
	switch {
	case !k.RevokedAt.IsZero():
		return "revoked"
	case !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt):
		return "expired"
	}
	return active
}

// KnownApps are those that a key can be for.
var KnownApps = []string{"coderunner", "notebook", "files", "search", "testrunner", "executions", "backups", "sandboxapi", "shares"}

// across are those of them that work on what is of others.
var across = []string{"executions", "backups", "sandboxapi", "shares"}

// ReachesNothing says whether a key is for apps alone that work on what is of
// others, and for none of those.
func (k Key) ReachesNothing() bool {
	return len(k.Apps) > 0 && !slices.ContainsFunc(k.Apps, func(app string) bool { return !slices.Contains(across, app) })
}

const maxLabel = 100

// Check says what is wrong with a key that is to be made.
func (k Key) Check() error {
	if !ValidOwner(k.Owner) {
		return fmt.Errorf("owner %q: give 1 to %d letters, digits or . _ @ -", k.Owner, maxOwner)
	}
	if len(k.Label) > maxLabel || strings.ContainsFunc(k.Label, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return fmt.Errorf("label: give at most %d bytes on one line", maxLabel)
	}
	for _, app := range k.Apps {
		if !slices.Contains(KnownApps, app) {
			return fmt.Errorf("app %q: it is none of %s", app, strings.Join(KnownApps, ", "))
		}
	}
	return nil
}
