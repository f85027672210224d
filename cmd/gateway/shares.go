package main

import (
	"context"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"sandgate/handlers/files"
	"sandgate/handlers/shares"
	"sandgate/handlers/testrunner"
	"sandgate/internal/httpapi"
	"sandgate/internal/identity"
	"sandgate/sandboxclient"
)

// A stater describes what a path holds, links not followed.
type stater interface {
	Stat(ctx context.Context, path string) (sandboxclient.FileInfo, error)
}

// A keyChecker says why a key is not good any more.
type keyChecker interface {
	CheckKey(ctx context.Context, id string) error
}

// linked answers who follows a link that was shared, with what the apps would
// answer its owner.
type linked struct {
	sharer *identity.Sharer
	keys   keyChecker
	take   func(owner string, header http.Header) error // counts a request on an owner's account
	turn   func(echo.HandlerFunc) echo.HandlerFunc      // waits for a turn of the owner
	exists func(sandboxclient.Ref) bool
	tests  *testrunner.Handler
	files  *files.Handler
	open   func(owner string) stater
}

// shareRoutes lists what makes links and what follows them, among so many visits.
func shareRoutes(s opened, d door, visits *httpapi.Limiter, cfg Config) []route {
	sharer := identity.NewSharer(s.key)
	l := linked{
		sharer: sharer,
		keys:   d,
		take:   s.quotas.TakeFor,
		turn:   visits.Admit,
		exists: s.exists,
		tests:  testrunner.New(s.runs, s.runs),
		files: files.New(func(owner, name string) files.Sandbox {
			return s.client.Sandbox(sandboxclient.Ref{Owner: owner, App: files.App, Name: name})
		}, int64(cfg.MaxUpload)),
		open: func(owner string) stater {
			return s.client.Sandbox(sandboxclient.Ref{Owner: owner, App: files.App, Name: files.SandboxName})
		},
	}
	links := shares.New(sharer, s.runs).Look(func(owner string) shares.Workspace {
		return s.client.Sandbox(sandboxclient.Ref{Owner: owner, App: files.App, Name: files.SandboxName})
	})
	const query = "after=&download="
	return []route{
		{"POST", "/v1/shares", "", shares.App, steering, "a link for others: {\"run\":ID}, {\"file\":PATH} or {\"dir\":PATH}, with \"ttl\"", links.Create},
		{"GET", shares.Prefix + ":token", query, shares.App, visiting, "what a link is for", l.follow},
		{"GET", shares.Prefix + ":token/*", query, shares.App, visiting, "what is in it: a file of a directory, a run's events and artifacts", l.follow},
	}
}

// follow answers GET and HEAD /s/{token} and below, as one of the requests of
// whoever shared: however many follow one owner's links, there is room for others'.
func (l linked) follow(c echo.Context) error {
	share, err := l.sharer.Open(c.Param("token"), time.Now())
	if err != nil {
		return err
	}
	if l.keys.CheckKey(c.Request().Context(), share.Key) != nil {
		return nothingThere()
	}
	rest, err := below(c)
	if err != nil {
		return err
	}
	become(c, share)
	if err := l.take(share.Owner, c.Response().Header()); err != nil {
		return err
	}
	return l.turn(func(c echo.Context) error { return l.show(c, share, rest) })(c)
}

// show answers with what is below a link.
func (l linked) show(c echo.Context, share identity.Share, rest string) error {
	if share.Kind == identity.ShareRun {
		return l.run(c, share, rest)
	}
	return l.file(c, share, rest)
}

// become has the request come from the one who shared, to look and not to change.
func become(c echo.Context, share identity.Share) {
	httpapi.Become(c, identity.Identity{Owner: share.Owner, Key: share.Key, ReadOnly: true})
}

// below gives what of the address is below the link itself, without a name that
// leads up or elsewhere.
func below(c echo.Context) (string, error) {
	rest := c.Param("*")
	if c.Request().URL.RawPath != "" {
		var err error
		if rest, err = url.PathUnescape(rest); err != nil {
			return "", nothingThere()
		}
	}
	for part := range strings.SplitSeq(rest, "/") {
		if part == ".." || part == "." {
			return "", nothingThere()
		}
	}
	return strings.Trim(rest, "/"), nil
}

// run answers with a run's summary, its events or one of its artifacts.
func (l linked) run(c echo.Context, share identity.Share, rest string) error {
	name, isArtifact := strings.CutPrefix(rest, "artifacts/")
	c.SetParamNames("run", "*")
	c.SetParamValues(share.Target, name)
	c.Request().URL.RawPath = "" // what is below was decoded already
	switch {
	case rest == "":
		return l.tests.Get(c)
	case rest == "events":
		return l.tests.Events(c)
	case isArtifact:
		return l.tests.Artifact(c)
	}
	return nothingThere()
}

// file answers with a file or a directory.
func (l linked) file(c echo.Context, share identity.Share, rest string) error {
	ref, _ := workspaceRef(c)
	httpapi.Concerns(c, ref.App, ref.Name)
	if !l.exists(ref) { // whoever looks has none made
		return nothingThere()
	}
	if rest != "" {
		if share.Kind != identity.ShareDir {
			return nothingThere()
		}
		if err := leadsNowhereElse(c.Request().Context(), l.open(share.Owner), share.Target, rest); err != nil {
			return err
		}
	}
	query := url.Values{"path": {path.Join(share.Target, rest)}}
	download, err := httpapi.QueryBool(c, "download")
	if err != nil {
		return err
	}
	if download {
		query.Set("download", "1")
	}
	c.Request().URL.RawQuery = query.Encode()
	if share.Kind == identity.ShareFile {
		return l.files.GetFile(c) // it may have become a directory
	}
	return l.files.Get(c)
}

// leadsNowhereElse makes sure that no link in a shared directory leads out of it:
// it follows none at all. Whoever has the link cannot make one, and a program in
// the sandbox that makes one in between could have copied the file as well.
func leadsNowhereElse(ctx context.Context, sandbox stater, dir, rest string) error {
	at := dir
	for name := range strings.SplitSeq(rest, "/") {
		at = path.Join(at, name)
		info, err := sandbox.Stat(ctx, at)
		if err != nil {
			return err
		}
		if info.Type == "symlink" {
			return nothingThere()
		}
	}
	return nil
}

func nothingThere() error {
	return sandboxclient.Errorf(sandboxclient.CodeNotFound, "%s", http.StatusText(http.StatusNotFound))
}
