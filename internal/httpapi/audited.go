package httpapi

import (
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"sandgate/internal/audit"
	"sandgate/internal/identity"
	"sandgate/sandboxclient"
)

// maxTarget bounds what is audited of a name that a request brings.
const maxTarget = 128

// targets are the query parameters that name what a request is about. None holds
// anything of a file, of code or of a term that is searched.
var targets = []string{"notebook", "app", "name"}

// tellAudit tells how a request ended. What everybody may look at is not told, but
// who signs in or out is, and what a link of somebody's was used for.
func (a *API) tellAudit(c echo.Context, end outcome) {
	r, id := c.Request(), Identity(c)
	forAll := a.public[r.Method+" "+c.Path()] && id.Owner == ""
	if a.audit == nil || forAll && identity.Safe(r.Method) {
		return
	}
	e := audit.Entry{
		Time: time.Now(), Request: RequestID(c), Remote: remote(r),
		Owner: id.Owner, By: id.Asker, Key: id.Key,
		Action: methodLabel(r.Method) + " " + a.route(c), App: a.apps[a.route(c)], Target: targetOf(c),
		Outcome: "ok", Status: end.status, Minor: identity.Safe(r.Method),
	}
	if end.err != nil {
		e.Outcome = string(end.err.Code)
		e.Minor = e.Minor || slices.Contains(refusals, end.err.Code)
	}
	a.audit(e)
}

// refusals are what is told of requests that have changed nothing.
var refusals = []sandboxclient.Code{
	sandboxclient.CodeInvalid, sandboxclient.CodeUnauthenticated, sandboxclient.CodeForbidden, sandboxclient.CodeNotFound,
	sandboxclient.CodeMethodNotAllowed, sandboxclient.CodePreconditionFailed, sandboxclient.CodeExhausted,
}

// What Concerns and Made keep in the context.
const (
	concerned = "sandgate.concerned"
	made      = "sandgate.made"
)

// Concerns has the audit log tell which sandbox, or which run, a request is about
// whose address does not say so.
func Concerns(c echo.Context, app, name string) {
	c.Set(concerned, map[string]string{"app": app, "name": name})
}

// Made has the audit log tell the id of what a request made whose answer begins
// before that is there, and so has no Location.
func Made(c echo.Context, id string) { c.Set(made, id) }

// targetOf names what a request is about: the sandbox, run or execution, and what
// it made.
func targetOf(c echo.Context) map[string]string {
	target := map[string]string{}
	for _, name := range c.ParamNames() {
		if name != "*" && name != "token" {
			target[name] = bounded(c.Param(name))
		}
	}
	for _, name := range targets {
		if value, ok := Query(c, name); ok {
			target[name] = bounded(value)
		}
	}
	about, _ := c.Get(concerned).(map[string]string)
	for name, value := range about {
		target[name] = bounded(value)
	}
	target["made"] = bounded(madeBy(c))
	maps.DeleteFunc(target, func(_, value string) bool { return value == "" })
	if len(target) == 0 {
		return nil
	}
	return target
}

// madeBy gives the id of what a request made.
func madeBy(c echo.Context) string {
	if place := c.Response().Header().Get("Location"); place != "" {
		return path.Base(place)
	}
	id, _ := c.Get(made).(string)
	return id
}

func bounded(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), maxTarget)], "\uFFFD")
}

// challenge tells a client that is not known how to say who it is.
func challenge(header http.Header, code sandboxclient.Code) {
	if code == sandboxclient.CodeUnauthenticated {
		header.Set("WWW-Authenticate", `Bearer realm="sandgate"`)
	}
}
