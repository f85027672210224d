package identity

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"sandgate/sandboxclient"
)

// Local is the owner of everything on a gateway that asks nobody.
const Local = "local"

// An Identity is who a request comes from.
type Identity struct {
	Owner    string   // whose sandboxes, runs and files it is about
	Key      string   // the identifier of the key that was shown; "" where there are none
	Class    string   // of quotas; "": the default one
	Apps     []string // that may be used; none: all
	ReadOnly bool
	Admin    bool   // may look at what others have
	Asker    string // of an admin that looks at another owner's: who that is
}

// alwaysReadable are the apps that any key may look at: what the gateway can do,
// and what the owner has.
var alwaysReadable = []string{"sandboxapi", "session"}

// cellApps are those whose work is an execution.
var cellApps = []string{"coderunner", "notebook"}

// Allow says why a request of an app may not be made with this identity; nil if
// it may.
func (id Identity) Allow(app, method string) error {
	if id.ReadOnly && !Safe(method) {
		return sandboxclient.Errorf(sandboxclient.CodeForbidden, "This key may look, and change nothing")
	}
	if id.Reaches(app) || Safe(method) && slices.Contains(alwaysReadable, app) {
		return nil
	}
	if app == "executions" && slices.ContainsFunc(cellApps, func(cells string) bool { return slices.Contains(id.Apps, cells) }) {
		return nil
	}
	return sandboxclient.Errorf(sandboxclient.CodeForbidden,
		"This key is not for %s; it is for %s", app, strings.Join(id.Apps, ", "))
}

// Reaches says whether things of an app are there for this identity, by whichever
// route they are asked for.
func (id Identity) Reaches(app string) bool {
	return len(id.Apps) == 0 || slices.Contains(id.Apps, app)
}

// LookAt gives the identity with which an admin looks at what another owner has.
func (id Identity) LookAt(owner, method string) (Identity, error) {
	switch {
	case !id.Admin:
		return id, sandboxclient.Errorf(sandboxclient.CodeForbidden, "Only an admin's key may name another owner")
	case !Safe(method):
		return id, sandboxclient.Errorf(sandboxclient.CodeForbidden, "An admin may look at what another owner has, and not change it")
	case !ValidOwner(owner):
		return id, sandboxclient.Errorf(sandboxclient.CodeInvalid, "owner is a name of letters, digits and . _ @ -, of at most %d", maxOwner)
	}
	id.Asker, id.Owner = id.Owner, owner
	return id, nil
}

// Account is the owner on whose account the request goes, which is the one who
// asks.
func (id Identity) Account() string {
	if id.Asker != "" {
		return id.Asker
	}
	return id.Owner
}

// Safe says whether a method changes nothing.
func Safe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

const (
	maxOwner   = 64
	ownerSigns = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._@-"
)

// ValidOwner says whether a name may be an owner's. Such a name needs no
// quoting in a log, a header or an address.
func ValidOwner(name string) bool {
	return name != "" && len(name) <= maxOwner && strings.Trim(name, ownerSigns) == ""
}

type contextKey struct{}

// With gives a context that carries an identity.
func With(ctx context.Context, id Identity) context.Context {
	return context.WithValue(ctx, contextKey{}, id)
}

// Of gives the identity that a context carries.
func Of(ctx context.Context) (Identity, bool) {
	id, ok := ctx.Value(contextKey{}).(Identity)
	return id, ok
}
