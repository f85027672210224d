package main

import (
	"github.com/labstack/echo/v4"

	"sandgate/handlers/backups"
	"sandgate/handlers/files"
	"sandgate/handlers/search"
	"sandgate/internal/httpapi"
	"sandgate/sandboxclient"
)

// whatExists gives the routes as they are for those who may only look: they find
// what exists, and no sandbox is made for them.
func whatExists(all []route, exists func(sandboxclient.Ref) bool) []route {
	for i, r := range all {
		switch {
		case r.method != "GET":
		case r.app == files.App || r.app == search.App:
			all[i].handler = looking(exists, workspaceRef, r.handler)
		case r.app == backups.App && r.path == "/v1/archives":
			all[i].handler = looking(exists, archiveRef, r.handler)
		}
	}
	return all
}

// looking asks whether there is the sandbox that a request means before it has
// next open it, when nothing may be changed. A request that means none is next's.
func looking(exists func(sandboxclient.Ref) bool, means func(echo.Context) (sandboxclient.Ref, error), next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		id := httpapi.Identity(c)
		if !id.ReadOnly && id.Asker == "" {
			return next(c)
		}
		if ref, err := means(c); err == nil && !exists(ref) {
			return sandboxclient.Errorf(sandboxclient.CodeNotFound, "There is no such sandbox")
		}
		return next(c)
	}
}

func workspaceRef(c echo.Context) (sandboxclient.Ref, error) {
	return sandboxclient.Ref{Owner: httpapi.Owner(c), App: files.App, Name: files.SandboxName}, nil
}

func archiveRef(c echo.Context) (sandboxclient.Ref, error) {
	app, _ := httpapi.Query(c, "app")
	name, _ := httpapi.Query(c, "name")
	return backupRef(httpapi.Owner(c), app, name)
}
