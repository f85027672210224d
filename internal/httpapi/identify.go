package httpapi

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"sandgate/internal/identity"
)

// An Identifier says who a request comes from, or why it is refused. It does so
// before anything of the body is read.
type Identifier interface {
	Identify(r *http.Request) (identity.Identity, error)
}

// ownerParameter is how an admin names whose things to look at, on any route.
const ownerParameter = "owner"

// identified lets a request through with the identity that it comes from, if
// that may make it. A path that leads nowhere is no secret to those who are known.
func (a *API) identified(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		method := c.Request().Method
		if a.public[method+" "+c.Path()] {
			Become(c, identity.Identity{})
			return next(c)
		}
		id, err := a.identifier.Identify(c.Request())
		if err != nil {
			return err
		}
		Become(c, id)
		if a.take != nil {
			if err := a.take(id, c.Response().Header()); err != nil {
				return err
			}
		}
		if app, ok := a.apps[c.Path()]; ok {
			if err := id.Allow(app, method); err != nil {
				return err
			}
		}
		if err := lookElsewhere(c, id); err != nil {
			return err
		}
		return next(c)
	}
}

// Become gives the request an identity: a public route's too, once it is known who
// that is, so that log and audit tell it.
func Become(c echo.Context, id identity.Identity) {
	r := c.Request()
	c.SetRequest(r.WithContext(identity.With(r.Context(), id)))
}

// lookElsewhere lets an admin look at what another owner has. Where nobody is
// asked who they are, there is no such parameter.
func lookElsewhere(c echo.Context, id identity.Identity) error {
	owner, named := Query(c, ownerParameter)
	if !named || id.Key == "" {
		return nil
	}
	id, err := id.LookAt(owner, c.Request().Method)
	if err != nil {
		return err
	}
	dropParameter(c.Request(), ownerParameter)
	Become(c, id)
	return nil
}

// dropParameter takes a parameter out of a query, whose others stay as they are.
func dropParameter(r *http.Request, name string) {
	var kept []string
	for pair := range strings.SplitSeq(r.URL.RawQuery, "&") {
		if key, _, _ := strings.Cut(pair, "="); unescape(key) != name {
			kept = append(kept, pair)
		}
	}
	r.URL.RawQuery = strings.Join(kept, "&")
}
