package main

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"sandgate/handlers/coderunner"
	"sandgate/handlers/notebook"
	"sandgate/internal/httpapi"
	"sandgate/sandboxclient"
)

// A route is one line of what the gateway can do.
type route struct {
	method, path, query string
	app                 string
	does                string
	handler             echo.HandlerFunc
}

// routes lists every route, in the order in which a visitor meets them.
func routes(client *sandboxclient.Client, cfg Config) []route {
	runner := coderunner.New(func(owner, name string) coderunner.Sandbox {
		return client.Sandbox(sandboxclient.Ref{Owner: owner, App: coderunner.App, Name: name})
	}, int64(cfg.MaxBody))
	notebooks := notebook.New(func(owner, name string) notebook.Sandbox {
		return client.Sandbox(sandboxclient.Ref{Owner: owner, App: notebook.App, Name: name})
	}, int64(cfg.MaxBody))

	return []route{
		{"POST", "/run", "timeout=", coderunner.App, "run the body as Python; variables persist", runner.Run},

		{"POST", "/notebook", "notebook=&timeout=", notebook.App, "run the body as a cell of a notebook", notebooks.Run},
		{"GET", "/notebook", "notebook=", notebook.App, "what the notebook is doing", notebooks.State},
		{"POST", "/notebook/interrupt", "notebook=", notebook.App, "end the cell that runs, keep the variables", notebooks.Interrupt},
		{"DELETE", "/notebook", "notebook=", notebook.App, "restart the notebook: forget the variables, keep the files", notebooks.Restart},
	}
}

// mount gives the API its routes, and the list of them at the root.
func mount(api *httpapi.API, all []route) {
	list := index(all)
	api.Handle("GET", "/", "", func(c echo.Context) error {
		return httpapi.Text(c, http.StatusOK, list)
	})
	for _, r := range all {
		api.Handle(r.method, r.path, r.app, r.handler)
	}
}

// index is the list of routes as GET / answers it.
func index(all []route) string {
	var b strings.Builder
	b.WriteString("Sandgate runs code, notebooks, files and search in isolated sandboxes.\n\n")
	for _, r := range all {
		path := r.path
		if r.query != "" {
			path += "?" + r.query
		}
		fmt.Fprintf(&b, "%-6s %-32s %s\n", r.method, path, r.does)
	}
	b.WriteString("\nTry: curl -d 'print(\"hello\")' localhost:8787/run\n")
	return b.String()
}
