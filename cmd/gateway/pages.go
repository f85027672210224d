package main

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"sandgate/internal/httpapi"
	"sandgate/internal/webui"
)

// mountPages gives the API its pages, which are for everybody: one of them signs
// in. What their addresses ask for is for the pages to understand.
func mountPages(api *httpapi.API) {
	pages := echo.WrapHandler(webui.New())
	api.Public("GET", "/app", "pages", toPages)
	api.Public("GET", webui.Prefix+"*", "pages", pages)
}

func toPages(c echo.Context) error {
	return c.Redirect(http.StatusSeeOther, webui.Prefix)
}

// root sends browsers to the pages, and gives everybody else the list of routes.
func root(all []route) echo.HandlerFunc {
	return func(c echo.Context) error {
		c.Response().Header().Add("Vary", "Accept")
		if httpapi.AcceptsHTML(c) {
			return toPages(c)
		}
		return httpapi.Text(c, http.StatusOK, index(all, c.Request().Host))
	}
}
