package archtest

import (
	"slices"
	"strings"
	"testing"
)

// A rule says what the packages that it binds do not import.
type rule struct {
	name   string
	binds  []string
	except []string

	only   []string // of this module they name nothing else
	never  []string // they do not name it
	linked bool     // never goes for what is linked through others as well
	why    string
}

const (
	echo       = "github.com/labstack/echo/..."
	prometheus = "github.com/prometheus/client_golang/..."
	sqlite     = "modernc.org/sqlite/..."

	handlers    = "sandgate/handlers/..."
	client      = "sandgate/sandboxclient"
	wire        = "sandgate/sandboxclient/wire"
	drivertest  = "sandgate/sandboxclient/drivertest"
	localDriver = "sandgate/sandboxclient/local/..."
	sandboxd    = "sandgate/internal/sandboxd/..."
	store       = "sandgate/internal/store/..."
	objects     = "sandgate/internal/objects/..."
	objectstest = "sandgate/internal/objects/objectstest"
	sandboxtest = "sandgate/internal/sandboxtest"
)

var onlyForTests = []string{"testing/...", "net/http/httptest"}

var rules = []rule{
	{
		name:  "handlers",
		binds: []string{handlers},
		never: []string{localDriver, sandboxd, store, "os", "os/exec", prometheus},
		why:   "a handler parses, calls the client and renders; it knows neither engine nor host",
	},
	{
		name:   "client",
		binds:  []string{client},
		never:  []string{echo, prometheus, "database/sql", sqlite, handlers, localDriver, sandboxd, store},
		linked: true,
		why:    "the client is the domain; adapters depend on it, not the other way round",
	},
	{
		name:  "wire",
		binds: []string{wire},
		only:  []string{},
		why:   "wire is all that the two sides of the isolation boundary share",
	},
	{
		name:  "daemon's own",
		binds: []string{sandboxd, "sandgate/cmd/sandboxd"},
		only:  []string{sandboxd, wire},
		why:   "sandboxd lives inside the sandbox and shares nothing but wire with the gateway",
	},
	{
		name:   "daemon's libraries",
		binds:  []string{sandboxd, "sandgate/cmd/sandboxd"},
		never:  []string{echo, prometheus, "database/sql"},
		linked: true,
		why:    "sandboxd is small and static, with few dependencies",
	},
	{
		name:  "drivers",
		binds: []string{localDriver},
		never: []string{handlers, store, sandboxd, "sandgate/internal/httpapi/...", echo, prometheus},
		why:   "a driver makes, lists, dials and destroys sandboxes, and nothing else",
	},
	{
		name:   "runs",
		binds:  []string{"sandgate/internal/runs", "sandgate/internal/backups"},
		never:  []string{echo, prometheus, "database/sql", sqlite, store, sandboxd},
		linked: true,
		why:    "the engines of test runs and of backups know neither the web nor the database",
	},
	{
		name:   "identity",
		binds:  []string{"sandgate/internal/identity"},
		never:  []string{echo, prometheus, "database/sql", sqlite, store, sandboxd},
		linked: true,
		why:    "who somebody is depends on no framework and no database",
	},
	{
		name:  "quotas",
		binds: []string{"sandgate/internal/quota", "sandgate/internal/audit", "sandgate/internal/recent"},
		never: []string{echo, "database/sql", store, sandboxd},
		why:   "they count and write down; others ask them",
	},
	{
		name:  "way out",
		binds: []string{"sandgate/internal/egress/...", "sandgate/internal/npmmirror/..."},
		never: []string{echo, store, sandboxd, "database/sql"},
		why:   "it decides where sandboxes connect to, and connects them; it serves no visitor and keeps no records",
	},
	{
		name:   "adapters",
		binds:  []string{"sandgate/internal/..."},
		except: []string{sandboxtest},
		never:  []string{handlers, localDriver},
		why:    "only cmd/gateway puts handlers and drivers together",
	},
	{
		name:  "storage",
		binds: []string{objects, "sandgate/internal/runlog"},
		only:  []string{objects},
		why:   "what keeps bytes does not know whose they are",
	},
	{
		name:  "commands",
		binds: []string{"sandgate/..."},
		never: []string{"sandgate/cmd/..."},
		why:   "commands are the top of the graph",
	},
	{
		name:   "testing",
		binds:  []string{"sandgate/..."},
		except: []string{drivertest, objectstest, sandboxtest},
		never:  onlyForTests,
		why:    "it is for tests, and for drivertest, objectstest and sandboxtest, which are made for them",
	},
	{
		name:   "shipped",
		binds:  []string{"sandgate/cmd/..."},
		never:  onlyForTests,
		linked: true,
		why:    "what is shipped does not link what only tests need",
	},
}

func TestImports(t *testing.T) {
	for _, r := range rules {
		t.Run(strings.ReplaceAll(r.name, " ", "_"), func(t *testing.T) {
			r.checkNames(t)
			for _, bound := range r.binds {
				for _, p := range our(t, bound) {
					r.check(t, p)
				}
			}
		})
	}
}

// checkNames fails when something that the rule names is not there (any more).
func (r rule) checkNames(t *testing.T) {
	t.Helper()
	for _, pattern := range slices.Concat(r.except, r.only, r.never) {
		if !slices.ContainsFunc(packages, func(p goPackage) bool { return matches(pattern, p.ImportPath) }) {
			t.Errorf("the rule names %s, but no package is", pattern)
		}
	}
}

func (r rule) check(t *testing.T, p goPackage) {
	t.Helper()
	if matchesAny(r.except, p.ImportPath) {
		return
	}
	imports := p.Imports
	if r.linked {
		imports = p.Deps
	}
	for _, imported := range imports {
		if matchesAny(r.never, imported) {
			t.Errorf("%s imports %s: %s", p.ImportPath, imported, r.why)
		}
	}
	for _, imported := range p.Imports {
		if r.only != nil && matches(module+"/...", imported) && !matchesAny(r.only, imported) {
			t.Errorf("%s imports %s: %s", p.ImportPath, imported, r.why)
		}
	}
}

// Each handler and each driver is a room of its own.
func TestImports_noRoomIntoTheNext(t *testing.T) {
	notDrivers := []string{wire, drivertest}
	checkRooms(t, "sandgate/handlers", nil)
	checkRooms(t, "sandgate/sandboxclient", notDrivers)
}

// checkRooms fails when a package in one folder below parent imports one in
// another; what is open may be imported from anywhere.
func checkRooms(t *testing.T, parent string, open []string) {
	t.Helper()
	for _, p := range our(t, parent+"/...") {
		room := roomIn(parent, p.ImportPath)
		if room == "" || matchesAny(open, p.ImportPath) {
			continue
		}
		for _, imported := range p.Imports {
			other := roomIn(parent, imported)
			if other != "" && other != room && !matchesAny(open, imported) {
				t.Errorf("%s imports %s: no room of %s imports another", p.ImportPath, imported, parent)
			}
		}
	}
}

// roomIn names the folder directly below parent that a package is in.
func roomIn(parent, importPath string) string {
	below, ok := strings.CutPrefix(importPath, parent+"/")
	if !ok {
		return ""
	}
	room, _, _ := strings.Cut(below, "/")
	return room
}

// The Makefile builds again when something changes in these folders.
func TestImports_programsComeFromTheFoldersThatMakeWatches(t *testing.T) {
	watched := []string{"sandgate/cmd/...", handlers, "sandgate/internal/...", client + "/..."}
	for _, p := range our(t, "sandgate/cmd/...") {
		for _, linked := range p.Deps {
			if matches(module+"/...", linked) && !matchesAny(watched, linked) {
				t.Errorf("%s links %s, whose folder is not in SOURCES of the Makefile", p.ImportPath, linked)
			}
		}
	}
}
