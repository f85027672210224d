package httpapi

import (
	"net/http"
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

// targetOf names what a request is about: the notebook, run or execution.
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
	if len(target) == 0 {
		return nil
	}
	return target
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
