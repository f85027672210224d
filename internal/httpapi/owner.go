package httpapi

import "github.com/labstack/echo/v4"

// Owner says on whose behalf a request comes. There is one owner until the
// gateway knows identities.
func Owner(echo.Context) string { return "local" }
