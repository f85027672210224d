package main

import (
	"context"
	"io"
	"iter"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	backupsapi "sandgate/handlers/backups"
	"sandgate/handlers/executions"
	"sandgate/handlers/sandboxapi"
	"sandgate/internal/backups"
	"sandgate/internal/httpapi"
	"sandgate/internal/identity"
	"sandgate/internal/store"
	"sandgate/sandboxclient"
)

// notebooks has one of everything, of a notebook.
type notebooks struct{}

func (notebooks) ExecutionApp(_, id string) (string, error) {
	if id != "x" {
		return "", sandboxclient.NoExecution()
	}
	return "notebook", nil
}

func (notebooks) Execution(context.Context, string, string) (sandboxclient.Execution, error) {
	return sandboxclient.Execution{}, nil
}

func (notebooks) CancelExecution(context.Context, string, string) error { return nil }

func (notebooks) FollowExecution(context.Context, string, string, int64) iter.Seq2[sandboxclient.Event, error] {
	return func(func(sandboxclient.Event, error) bool) {}
}

// aShelf has one backup.
type aShelf struct{}

func (aShelf) Get(_ context.Context, _, id string) (backups.Backup, error) {
	if id != "x" {
		return backups.Backup{}, backups.ErrNotFound
	}
	return backups.Backup{ID: id, App: "notebook", Name: "scratch"}, nil
}

func (aShelf) List(_ context.Context, _ string, f backups.Filter, _ int) ([]backups.Backup, backups.Position, error) {
	if len(f.Apps) > 0 && !slices.Contains(f.Apps, "notebook") {
		return nil, backups.Position{}, nil
	}
	return []backups.Backup{{ID: "x", App: "notebook"}}, backups.Position{}, nil
}

func (aShelf) Delete(context.Context, string, string) error { return nil }

func (aShelf) Create(context.Context, sandboxclient.Ref, backups.Request, backups.Progress) (backups.Backup, error) {
	return backups.Backup{}, nil
}

func (aShelf) Restore(context.Context, string, sandboxclient.Ref, string, backups.Progress) (backups.Restored, error) {
	return backups.Restored{}, nil
}

// aSandbox is one of them.
type aSandbox struct{ missing bool }

func (s aSandbox) Info(context.Context) (info sandboxclient.Info, err error) {
	if s.missing {
		err = sandboxclient.Errorf(sandboxclient.CodeNotFound, "There is no such sandbox")
	}
	return info, err
}

func (aSandbox) Hibernate(context.Context) error                        { return nil }
func (aSandbox) Wake(context.Context) error                             { return nil }
func (aSandbox) Destroy(context.Context, sandboxclient.Workspace) error { return nil }

func (aSandbox) Archive(context.Context, string, sandboxclient.ArchiveOptions) (*sandboxclient.Archive, error) {
	return nil, sandboxclient.Errorf(sandboxclient.CodeConflict, "reached")
}

func (aSandbox) Restore(context.Context, string, io.Reader, sandboxclient.RestoreOptions) (sandboxclient.Restored, error) {
	return sandboxclient.Restored{}, nil
}

func (notebooks) Sandboxes(context.Context, string) ([]sandboxclient.Info, error) {
	return []sandboxclient.Info{{Ref: sandboxclient.Ref{App: "notebook", Name: "scratch"}}}, nil
}

func (notebooks) Gauge(i sandboxclient.Info) sandboxclient.Info { return i }

// scoped is an API whose handlers find what a notebook has.
func scoped(t *testing.T, records *store.Store) *httpapi.API {
	t.Helper()
	door := newDoor(Config{Auth: authKeys}, records, records, quiet)
	api := httpapi.New(httpapi.Options{Logger: quiet, Registry: prometheus.NewRegistry(), Guard: httpapi.NewGuard(nil), Identifier: door})
	x := executions.New(notebooks{})
	b := backupsapi.New(backupsapi.Options{
		Keeper: aShelf{}, Shelf: aShelf{}, Ref: backupRef,
		Open: func(sandboxclient.Ref) backupsapi.Sandbox { return aSandbox{} }, MaxArchive: 1,
	})
	s := sandboxapi.NewSandboxes(notebooks{}, func(_, app, name string) sandboxapi.Sandbox { return aSandbox{name != "scratch"} })
	mount(api, []route{
		{method: "GET", path: "/executions/:id", app: executions.App, kind: steering, handler: x.Get},
		{method: "GET", path: "/executions/:id/events", app: executions.App, kind: viewing, handler: x.Events},
		{method: "DELETE", path: "/executions/:id", app: executions.App, kind: steering, handler: x.Cancel},
		{method: "POST", path: "/v1/backups", app: backupsapi.App, kind: working, handler: b.Create},
		{method: "GET", path: "/v1/backups", app: backupsapi.App, kind: steering, handler: b.List},
		{method: "GET", path: "/v1/backups/:id", app: backupsapi.App, kind: steering, handler: b.Get},
		{method: "DELETE", path: "/v1/backups/:id", app: backupsapi.App, kind: steering, handler: b.Delete},
		{method: "POST", path: "/v1/backups/:id/restore", app: backupsapi.App, kind: working, handler: b.Restore},
		{method: "GET", path: "/v1/archives", query: "app=&name=", app: backupsapi.App, kind: working, handler: b.Download},
		{method: "PUT", path: "/v1/archives", query: "app=&name=", app: backupsapi.App, kind: working, handler: b.Upload},
		{method: "GET", path: "/v1/sandboxes", app: sandboxapi.App, kind: steering, handler: s.List},
		{method: "POST", path: "/v1/sandboxes/wake", query: "app=&name=", app: sandboxapi.App, kind: working, handler: s.Wake},
		{method: "POST", path: "/v1/sandboxes/hibernate", query: "app=&name=", app: sandboxapi.App, kind: working, handler: s.Hibernate},
		{method: "DELETE", path: "/v1/sandboxes", query: "app=&name=", app: sandboxapi.App, kind: steering, handler: s.Destroy},
	}, newLimiters(defaults(), prometheus.NewRegistry()))
	return api
}

// What is a notebook's is there for a key for notebooks, and for one for another
// app it is what is not there, in the same words.
func TestMatrix_scopes(t *testing.T) {
	records, err := store.Open(t.Context(), t.TempDir()+"/db")
	if err != nil {
		t.Fatal(err)
	}
	defer records.Close()
	api := scoped(t, records)
	const others = "executions,backups,sandboxapi,"
	key := func(apps string) []string {
		return caller{key: func(k *identity.Key) { k.Apps = strings.Split(apps, ",") }}.authorization(t, records)
	}
	all, notebook, runner := caller{key: func(*identity.Key) {}}.authorization(t, records), key(others+"notebook"), key(others+"coderunner")
	send := func(who []string, method, target, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, target, strings.NewReader(body))
		r.Host, r.Header["Authorization"] = "localhost", who
		w := httptest.NewRecorder()
		api.ServeHTTP(w, r)
		return w
	}
	for _, tc := range []struct {
		method, target, body string
		missing              string // the same of what is not there; "": of an app that has none
	}{
		{"GET", "/executions/x", "", "/executions/y"},
		{"GET", "/executions/x/events", "", "/executions/y/events"},
		{"DELETE", "/executions/x", "", "/executions/y"},
		{"GET", "/v1/backups/x", "", "/v1/backups/y"},
		{"DELETE", "/v1/backups/x", "", "/v1/backups/y"},
		{"POST", "/v1/backups/x/restore", "", "/v1/backups/y/restore"},
		{"POST", "/v1/backups/x/restore", `{"app":"coderunner"}`, "/v1/backups/y/restore"},
		{"POST", "/v1/backups", `{"app":"notebook"}`, ""},
		{"GET", "/v1/archives?app=notebook", "", ""},
		{"PUT", "/v1/archives?app=notebook", "", ""},
		{"POST", "/v1/sandboxes/wake?app=notebook&name=scratch", "", "/v1/sandboxes/wake?app=notebook&name=y"},
		{"POST", "/v1/sandboxes/hibernate?app=notebook&name=scratch", "", "/v1/sandboxes/hibernate?app=notebook&name=y"},
		{"DELETE", "/v1/sandboxes?app=notebook&name=scratch", "", "/v1/sandboxes?app=notebook&name=y"},
	} {
		inside := [][]string{all, notebook}
		if strings.Contains(tc.body, "coderunner") { // into another app takes a key for both
			inside = [][]string{all, key(others + "notebook,coderunner")}
			if got := send(notebook, tc.method, tc.target, tc.body).Code; got != 404 {
				t.Errorf("%s %s into an app that the key is not for: %d", tc.method, tc.target, got)
			}
		}
		for _, who := range inside {
			if got := send(who, tc.method, tc.target, tc.body); got.Code == 404 || got.Code == 403 {
				t.Errorf("%s %s: %d %s", tc.method, tc.target, got.Code, got.Body)
			}
		}
		got := send(runner, tc.method, tc.target, tc.body)
		if got.Code != 404 {
			t.Errorf("%s %s for another app: %d %s", tc.method, tc.target, got.Code, got.Body)
		}
		if tc.missing == "" {
			continue
		}
		if want := send(all, tc.method, tc.missing, tc.body); got.Code != want.Code || got.Body.String() != want.Body.String() {
			t.Errorf("%s %s: %d %s, of what is not there %d %s", tc.method, tc.target, got.Code, got.Body, want.Code, want.Body)
		}
	}
	for _, list := range []string{"/v1/backups", "/v1/sandboxes"} {
		if got := send(notebook, "GET", list, "").Body.String(); !strings.Contains(got, "notebook") {
			t.Errorf("%s: %s", list, got)
		}
		if got := send(runner, "GET", list, "").Body.String(); strings.Contains(got, "notebook") {
			t.Errorf("%s for another app: %s", list, got)
		}
	}
}
