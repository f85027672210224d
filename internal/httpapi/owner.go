package httpapi

import (
	"github.com/labstack/echo/v4"

	"sandgate/internal/identity"
)

// Owner says on whose behalf a request comes.
func Owner(c echo.Context) string {
	id, known := identity.Of(c.Request().Context())
	if !known { // the handler is used without an API
		return identity.Local
	}
	if id.Owner == "" {
		panic("httpapi: a public route asks whose it is")
	}
	return id.Owner
}

// Identity says who a request comes from.
func Identity(c echo.Context) identity.Identity {
	id, _ := identity.Of(c.Request().Context())
	return id
}
