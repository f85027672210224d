package main

import (
	"fmt"
	"strings"

	"github.com/labstack/echo/v4"

	"sandgate/handlers/coderunner"
	"sandgate/handlers/executions"
	"sandgate/handlers/files"
	"sandgate/handlers/notebook"
	"sandgate/handlers/sandboxapi"
	"sandgate/handlers/search"
	"sandgate/handlers/session"
	"sandgate/handlers/testrunner"
	"sandgate/internal/httpapi"
	"sandgate/internal/runs"
	"sandgate/sandboxclient"
)

// A route is one line of what the gateway can do.
type route struct {
	method, path, query string
	app                 string
	kind                kind
	does                string
	handler             echo.HandlerFunc
}

// routes lists every route, in the order in which a visitor meets them.
func routes(client *sandboxclient.Client, engine *runs.Engine, cfg Config, capabilities sandboxapi.Document) []route {
	runner := coderunner.New(func(owner, name string) coderunner.Sandbox {
		ephemeral := name != coderunner.Playground
		return client.Sandbox(sandboxclient.Ref{Owner: owner, App: coderunner.App, Name: name, Ephemeral: ephemeral})
	}, int64(cfg.MaxBody))
	notebooks := notebook.New(func(owner, name string) notebook.Sandbox {
		return client.Sandbox(sandboxclient.Ref{Owner: owner, App: notebook.App, Name: name})
	}, int64(cfg.MaxBody))
	workspace := files.New(func(owner, name string) files.Sandbox {
		return client.Sandbox(sandboxclient.Ref{Owner: owner, App: files.App, Name: name})
	}, int64(cfg.MaxUpload))
	searcher := search.New(func(owner string) search.Sandbox {
		return client.Sandbox(sandboxclient.Ref{Owner: owner, App: files.App, Name: files.SandboxName})
	})

	running := executions.New(client)
	inventory := sandboxapi.NewSandboxes(client, func(owner, app, name string) sandboxapi.Sandbox {
		return client.Sandbox(sandboxclient.Ref{Owner: owner, App: app, Name: name})
	})
	tests := testrunner.New(engine, engine)

	return []route{
		{"POST", "/run", "language=&timeout=&fresh=&onDisconnect=", coderunner.App, working, "run the body as Python, or javascript, or bash; variables persist", runner.Run},
		{"DELETE", "/run", "language=", coderunner.App, steering, "restart the interpreter: end what runs in it, forget the variables", runner.Restart},

		{"POST", "/notebook", "notebook=&language=&timeout=&onDisconnect=", notebook.App, working, "run the body as a cell of a notebook", notebooks.Run},
		{"GET", "/notebook", "notebook=&language=", notebook.App, steering, "what the notebook is doing", notebooks.State},
		{"POST", "/notebook/interrupt", "notebook=&language=", notebook.App, steering, "end the cell that runs, keep the variables", notebooks.Interrupt},
		{"DELETE", "/notebook", "notebook=&language=&files=", notebook.App, steering, "restart the notebook: forget the variables, and with files=true the files too", notebooks.Restart},

		{"POST", "/tests", "", testrunner.App, viewing, "clone the repository whose address is the body, npm ci, npm test, all live", tests.Start},
		{"GET", "/tests", "limit=&after=", testrunner.App, steering, "the runs that there were, newest first", tests.List},
		{"GET", "/tests/:run", "", testrunner.App, steering, "the summary of a run; its path is in Location", tests.Get},
		{"GET", "/tests/:run/events", "after=", testrunner.App, viewing, "its events, from the first one on, as Server-Sent Events", tests.Events},
		{"GET", "/tests/:run/artifacts/*", "", testrunner.App, working, "a file that it left", tests.Artifact},
		{"DELETE", "/tests/:run", "", testrunner.App, steering, "end it with everything it started", tests.Cancel},

		{"GET", "/executions/:id", "", executions.App, steering, "the state of a run or cell; its id is in Location", running.Get},
		{"GET", "/executions/:id/events", "after=", executions.App, viewing, "its events, kept and to come, as Server-Sent Events", running.Events},
		{"DELETE", "/executions/:id", "", executions.App, steering, "end it with everything it started", running.Cancel},

		{"PUT", "/files", "path=", files.App, working, "store the body as a file", workspace.Put},
		{"GET", "/files", "path=&download=", files.App, working, "a file's bytes, or a directory's entries as JSON", workspace.Get},
		{"POST", "/files", "path=&from=&replace=", files.App, working, "move what is at from to path; without from, make path a directory", workspace.Post},
		{"DELETE", "/files", "path=&recursive=", files.App, working, "remove a file or a directory", workspace.Delete},

		{"GET", "/search", "q=&path=&fixed=&ignoreCase=&word=&include=&exclude=&context=&maxMatches=&timeout=", search.App, working, "the lines in these files that match, as grep -rn prints them", searcher.Search},

		{"GET", "/v1/sandboxes", "limit=&after=", sandboxapi.App, steering, "your sandboxes: state, last use, memory, disk", inventory.List},
		{"POST", "/v1/sandboxes/hibernate", "app=&name=", sandboxapi.App, working, "put one to sleep with all that it has in memory", inventory.Hibernate},
		{"POST", "/v1/sandboxes/wake", "app=&name=", sandboxapi.App, working, "have one run, from where it was", inventory.Wake},
		{"DELETE", "/v1/sandboxes", "app=&name=&files=", sandboxapi.App, steering, "end one, forget what it has in memory, and with files=true the files too", inventory.Destroy},

		{"GET", "/v1/capabilities", "", sandboxapi.App, steering, "what is enforced here and how, and what is not; languages, runtime", sandboxapi.New(capabilities).Capabilities},
	}
}

// mount gives the API its routes, and the list of them at the root. None takes
// a query parameter that the list does not name. Only what enters or visits is public.
// Where anybody may enter, a slot is for those who have sent their whole key; who
// visits takes one once it is known whose link that is.
func mount(api *httpapi.API, all []route, limits limiters) {
	api.Public("GET", "/", "", httpapi.OnlyQuery(nil, root(all)))
	for _, r := range all {
		add, handler := api.Handle, r.handler
		if r.kind == entering || r.kind == visiting {
			add = api.Public
		}
		if r.kind != visiting {
			handler = limits[r.kind].Admit(handler)
		}
		if r.kind == entering {
			handler = httpapi.ReadFirst(session.MaxBody, handler)
		}
		add(r.method, r.path, r.app, httpapi.OnlyQuery(r.parameters(), handler))
	}
}

// parameters names what the query may hold.
func (r route) parameters() []string {
	return strings.FieldsFunc(r.query, func(c rune) bool { return c == '=' || c == '&' })
}

// index is the list of routes as GET / answers it.
func index(all []route, host string) string {
	var b strings.Builder
	b.WriteString("Sandgate runs code, notebooks, files, search and tests in isolated sandboxes.\n\n")
	for _, r := range all {
		path := r.path
		if r.query != "" {
			path += "?" + r.query
		}
		fmt.Fprintf(&b, "%-6s %-32s %s\n", r.method, path, r.does)
	}
	b.WriteString("\nPages for the browser are at /app/.")
	fmt.Fprintf(&b, "\nTry: curl -d 'print(\"hello\")' %s/run\n", host)
	return b.String()
}
