package egress

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"sandgate/sandboxclient"
)

// A Mode says where the sandboxes of an app may connect to.
type Mode string

// The modes.
const (
	None      Mode = "none"       // nowhere
	AllowList Mode = "allow-list" // to what a rule allows
	Open      Mode = "open"       // to every public address
)

// Modes are all there are.
var Modes = []Mode{None, AllowList, Open}

// In mode Open the longest names that are looked up without a rule; what is
// longer carries more than a name.
const (
	maxOpenLabel = 40
	maxOpenName  = 120
)

// A Policy says where sandboxes may connect to. Its methods may be called from
// many goroutines; it is not changed once it is in use.
type Policy struct {
	Apps    map[string]Mode // by app; None when not named
	Allow   []Rule          // for apps in mode AllowList, and names of any length in mode Open
	Private []Target        // for every app that has egress, wherever these lead
}

// Mode gives an app's mode.
func (p *Policy) Mode(app string) Mode {
	if mode, ok := p.Apps[app]; ok {
		return mode
	}
	return None
}

// Permits decides by the name alone whether an app may connect there; what the
// name leads to is looked at when it is dialled. The error is an
// [*sandboxclient.Error] whose text names the flag that would allow it.
func (p *Policy) Permits(app, host string, port int) error {
	target, err := ParseTarget(net.JoinHostPort(strings.Trim(host, "[]"), strconv.Itoa(port)))
	if err != nil {
		return malformed(err)
	}
	if refused := p.permits(app, target); refused != nil {
		return refused
	}
	return nil
}

// PrivateAllowed says whether host and port were named as private: they may
// then lead anywhere, and need no encryption on the way.
func (p *Policy) PrivateAllowed(host string, port int) bool {
	target, err := ParseTarget(net.JoinHostPort(strings.Trim(host, "[]"), strconv.Itoa(port)))
	return err == nil && p.private(target)
}

func (p *Policy) private(t Target) bool { return slices.Contains(p.Private, t) }

// listed says whether the operator wrote the target down, by a rule.
func (p *Policy) listed(t Target) bool {
	return slices.ContainsFunc(p.Allow, func(r Rule) bool { return r.allows(t) })
}

func (p *Policy) permits(app string, t Target) *sandboxclient.Error {
	mode := p.Mode(app)
	switch {
	case mode == None:
		return forbidden("The app %s reaches nothing outside its sandbox; --egress %s=%s would give it a way out", app, app, AllowList)
	case p.private(t):
		return nil
	case !public(t):
		return notPublic(t)
	case p.listed(t):
		return nil
	case mode == AllowList:
		return forbidden("%s is not among the hosts that the app %s may reach; --egress-allow %s would allow it", t, app, t)
	case tooLong(t.Host):
		return forbidden("The name %.60s… is too long to be looked up for the app %s; --egress-allow would allow it", t.Host, app)
	}
	return nil
}

// public says what can be said without asking anybody.
func public(t Target) bool {
	if t.Addr.IsValid() {
		return publicAddr(t.Addr) == nil
	}
	return t.Host != "localhost" && !strings.HasSuffix(t.Host, ".localhost")
}

func tooLong(name string) bool {
	return len(name) > maxOpenName ||
		slices.ContainsFunc(strings.Split(name, "."), func(label string) bool { return len(label) > maxOpenLabel })
}

func notPublic(t Target) *sandboxclient.Error {
	return forbidden("%s does not lead to a public address; --egress-allow-private %s would allow it", t, t)
}

func malformed(err error) *sandboxclient.Error {
	return sandboxclient.Errorf(sandboxclient.CodeInvalid, "This is no target for a connection: %v", err)
}

func forbidden(format string, args ...any) *sandboxclient.Error {
	return &sandboxclient.Error{Code: sandboxclient.CodeForbidden, Message: fmt.Sprintf(format, args...)}
}
