package backups

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"sandgate/internal/backups"
	"sandgate/internal/httpapi"
	"sandgate/internal/identity"
	"sandgate/sandboxclient"
)

// fake is an engine, and a sandbox, of functions.
type fake struct {
	create    func(sandboxclient.Ref, backups.Request, backups.Progress) (backups.Backup, error)
	restore   func(id string, to sandboxclient.Ref, dir string, tell backups.Progress) (backups.Restored, error)
	list      func(backups.Filter, int) ([]backups.Backup, backups.Position, error)
	unpack    func(dir string, body io.Reader, o sandboxclient.RestoreOptions) (sandboxclient.Restored, error)
	deleted   string
	forgotten error
}

func (f *fake) Create(_ context.Context, ref sandboxclient.Ref, req backups.Request, tell backups.Progress) (backups.Backup, error) {
	return f.create(ref, req, tell)
}

func (f *fake) Restore(_ context.Context, id string, to sandboxclient.Ref, dir string, tell backups.Progress) (backups.Restored, error) {
	return f.restore(id, to, dir, tell)
}

func (f *fake) Get(_ context.Context, _, id string) (backups.Backup, error) {
	if id != "b" {
		return backups.Backup{}, backups.ErrNotFound
	}
	return backups.Backup{ID: "b", App: "notebook", Name: "mine", Dir: "/workspace/x"}, nil
}

func (f *fake) List(_ context.Context, _ string, filter backups.Filter, limit int) ([]backups.Backup, backups.Position, error) {
	return f.list(filter, limit)
}

func (f *fake) Delete(_ context.Context, _, id string) error {
	f.deleted = id
	return f.forgotten
}

// box is the fake as a sandbox.
type box struct{ *fake }

func (b box) Archive(context.Context, string, sandboxclient.ArchiveOptions) (*sandboxclient.Archive, error) {
	return nil, sandboxclient.Errorf(sandboxclient.CodeNotFound, "There is no such directory")
}

func (b box) Restore(_ context.Context, dir string, body io.Reader, o sandboxclient.RestoreOptions) (sandboxclient.Restored, error) {
	return b.unpack(dir, body, o)
}

// serve answers one request.
func serve(f *fake, method, target, body string, header ...string) (*httptest.ResponseRecorder, error) {
	h := New(Options{
		Keeper: f, Shelf: f, MaxArchive: 1000,
		Open: func(sandboxclient.Ref) Sandbox { return box{f} },
		Ref: func(owner, app, name string) (sandboxclient.Ref, error) {
			if app != "files" && app != "notebook" {
				return sandboxclient.Ref{}, sandboxclient.Errorf(sandboxclient.CodeInvalid, "app is files or notebook")
			}
			return sandboxclient.Ref{Owner: owner, App: app, Name: name}, nil
		},
	})
	e := echo.New()
	e.POST("/v1/backups", h.Create)
	e.GET("/v1/backups", h.List)
	e.GET("/v1/backups/:id", h.Get)
	e.DELETE("/v1/backups/:id", h.Delete)
	e.POST("/v1/backups/:id/restore", h.Restore)
	e.GET("/v1/archives", h.Download)
	e.PUT("/v1/archives", h.Upload)
	var failure error
	e.HTTPErrorHandler = func(err error, _ echo.Context) { failure = err }
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	e.ServeHTTP(w, r)
	return w, failure
}

func wantCode(t *testing.T, err error, code sandboxclient.Code, words string) {
	t.Helper()
	e, ok := errors.AsType[*sandboxclient.Error](err)
	if !ok || e.Code != code || !strings.Contains(e.Message, words) {
		t.Errorf("got %v, want %s with %q", err, code, words)
	}
}

func TestCreate_readsTheOrder(t *testing.T) {
	var ref sandboxclient.Ref
	var req backups.Request
	f := &fake{create: func(r sandboxclient.Ref, q backups.Request, _ backups.Progress) (backups.Backup, error) {
		ref, req = r, q
		return backups.Backup{ID: "b"}, nil
	}}
	w, err := serve(f, http.MethodPost, "/v1/backups",
		`{"app":"notebook","name":"n","dir":"d","label":"l","ttl":"90m","excludes":["*.log"],"useGitignore":true}`)
	if err != nil || w.Code != http.StatusCreated || w.Header().Get("Location") != "/v1/backups/b" {
		t.Fatalf("%d %v %v", w.Code, w.Header(), err)
	}
	if ref.App != "notebook" || ref.Name != "n" || req.Dir != "d" || req.Label != "l" || req.TTL != 90*time.Minute ||
		len(req.Excludes) != 1 || !req.Gitignore {
		t.Errorf("%+v %+v", ref, req)
	}
	if _, err := serve(f, http.MethodPost, "/v1/backups", `{"app":"files","ttl":1.5}`); err != nil || req.TTL != 1500*time.Millisecond {
		t.Errorf("%v, %v", req.TTL, err)
	}
	for body, words := range map[string]string{
		"": "names an app", `{"app":"x"}`: "app is", `{"app":1}`: "app is text", `{"app":"files","ttl":0}`: "ttl",
		`{"app":"files","ttl":"soon"}`: "ttl", `{"app":"files","x":1}`: "x", `{"app":"files"}{}`: "more than one", "[": "JSON",
	} {
		_, err := serve(f, http.MethodPost, "/v1/backups", body)
		wantCode(t, err, sandboxclient.CodeInvalid, words)
	}
}

func TestCreate_tellsProgress(t *testing.T) {
	f := &fake{create: func(_ sandboxclient.Ref, _ backups.Request, tell backups.Progress) (backups.Backup, error) {
		tell(10, 0)
		tell(20, 0)
		return backups.Backup{ID: "b"}, nil
	}}
	w, err := serve(f, http.MethodPost, "/v1/backups", `{"app":"files"}`, "Accept", "text/event-stream")
	lines := strings.Split(strings.TrimSpace(w.Body.String()), "\n\n")
	if err != nil || len(lines) != 3 || !strings.Contains(lines[1], `"bytes":20`) || !strings.Contains(lines[2], `"type":"complete"`) ||
		!strings.Contains(lines[2], `"backup":{"id":"b"`) {
		t.Errorf("%v\n%s", err, w.Body)
	}
	full := sandboxclient.Errorf(sandboxclient.CodeNoSpace, "full")
	f.create = func(_ sandboxclient.Ref, _ backups.Request, tell backups.Progress) (backups.Backup, error) {
		return backups.Backup{}, full
	}
	if _, err := serve(f, http.MethodPost, "/v1/backups", `{"app":"files"}`, "Accept", "text/event-stream"); !errors.Is(err, full) {
		t.Errorf("what fails before all progress is a proper answer: %v", err)
	}
	f.create = func(_ sandboxclient.Ref, _ backups.Request, tell backups.Progress) (backups.Backup, error) {
		tell(1, 0)
		return backups.Backup{}, full
	}
	w, _ = serve(f, http.MethodPost, "/v1/backups", `{"app":"files"}`, "Accept", "text/event-stream")
	if !strings.Contains(w.Body.String(), `"type":"error"`) || !strings.Contains(w.Body.String(), `"code":"no_space","message":"full"`) {
		t.Errorf("%s", w.Body)
	}
}

func TestRestore_takesTheBackupsOwnForWhatIsLeftOut(t *testing.T) {
	var to sandboxclient.Ref
	var dir string
	f := &fake{restore: func(_ string, ref sandboxclient.Ref, d string, _ backups.Progress) (backups.Restored, error) {
		to, dir = ref, d
		return backups.Restored{ID: "b", Files: 3}, nil
	}}
	for body, want := range map[string][3]string{
		"":                            {"notebook", "mine", ""},
		"{}":                          {"notebook", "mine", ""},
		`{"name":"other"}`:            {"notebook", "other", ""},
		`{"app":"notebook"}`:          {"notebook", "mine", ""},
		`{"app":"files","dir":"sub"}`: {"files", "", "sub"},
	} {
		w, err := serve(f, http.MethodPost, "/v1/backups/b/restore", body)
		if err != nil || w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"files":3`) {
			t.Errorf("%s: %d %s %v", body, w.Code, w.Body, err)
		}
		if got := [3]string{to.App, to.Name, dir}; got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
	_, err := serve(f, http.MethodPost, "/v1/backups/x/restore", "")
	wantCode(t, err, sandboxclient.CodeNotFound, "no such backup")
}

func TestList_pages(t *testing.T) {
	want := backups.Position{CreatedAt: time.Date(2026, 1, 2, 3, 4, 5, 678000, time.UTC), ID: "b"}
	var got backups.Filter
	f := &fake{list: func(filter backups.Filter, limit int) ([]backups.Backup, backups.Position, error) {
		got = filter
		return nil, want, nil
	}}
	w, err := serve(f, http.MethodGet, "/v1/backups?app=files&name=n", "")
	if err != nil || got.App != "files" || got.Name != "n" || !strings.Contains(w.Body.String(), `"backups":[]`) {
		t.Fatalf("%+v %s %v", got, w.Body, err)
	}
	_, next, _ := strings.Cut(strings.TrimSuffix(strings.TrimSpace(w.Body.String()), `"}`), `"next":"`)
	if _, err := serve(f, http.MethodGet, "/v1/backups?after="+next, ""); err != nil || got.After != want {
		t.Errorf("%+v, %v", got, err)
	}
	for _, query := range []string{"limit=0", "limit=1001", "after=x", "after=YQ"} {
		_, err := serve(f, http.MethodGet, "/v1/backups?"+query, "")
		wantCode(t, err, sandboxclient.CodeInvalid, "")
	}
}

// A page holds as many as it may of what the key is for, and where the next one
// begins tells nothing of the rest.
func TestList_asksForTheAppsOfTheKey(t *testing.T) {
	var got backups.Filter
	h := New(Options{Shelf: &fake{list: func(filter backups.Filter, _ int) ([]backups.Backup, backups.Position, error) {
		got = filter
		return nil, backups.Position{}, nil
	}}})
	c := echo.New().NewContext(httptest.NewRequest(http.MethodGet, "/v1/backups", nil), httptest.NewRecorder())
	httpapi.Become(c, identity.Identity{Owner: "ada", Apps: []string{"backups", "files"}})
	if err := h.List(c); err != nil || !slices.Equal(got.Apps, []string{"backups", "files"}) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestGetAndDelete(t *testing.T) {
	f := &fake{}
	if w, err := serve(f, http.MethodGet, "/v1/backups/b", ""); err != nil || !strings.Contains(w.Body.String(), `"id":"b"`) {
		t.Errorf("%s %v", w.Body, err)
	}
	if w, err := serve(f, http.MethodDelete, "/v1/backups/b", ""); err != nil || w.Code != http.StatusNoContent || f.deleted != "b" {
		t.Errorf("%d %v", w.Code, err)
	}
}

func TestUpload(t *testing.T) {
	var got string
	f := &fake{unpack: func(dir string, body io.Reader, o sandboxclient.RestoreOptions) (sandboxclient.Restored, error) {
		content, err := io.ReadAll(body)
		got = dir + " " + string(content)
		if !o.Foreign {
			t.Error("what comes from elsewhere is trusted")
		}
		return sandboxclient.Restored{ArchiveInfo: sandboxclient.ArchiveInfo{Files: 2}, Restart: "it slept"}, err
	}}
	w, err := serve(f, http.MethodPut, "/v1/archives?app=files&dir=sub", "a tar")
	if err != nil || got != "/workspace/sub a tar" || !strings.Contains(w.Body.String(), `"files":2,"contentBytes":0,"restart":"it slept"}`) {
		t.Errorf("%q %s %v", got, w.Body, err)
	}
	_, err = serve(f, http.MethodPut, "/v1/archives?app=files", strings.Repeat("x", 1001))
	wantCode(t, err, sandboxclient.CodeTooLarge, "larger")
	for _, query := range []string{"app=x", "", "app=files&dir=../x"} {
		_, err := serve(f, http.MethodPut, "/v1/archives?"+query, "")
		wantCode(t, err, sandboxclient.CodeInvalid, "")
	}
	_, err = serve(f, http.MethodGet, "/v1/archives?app=files&format=zip", "")
	wantCode(t, err, sandboxclient.CodeInvalid, "format")
	_, err = serve(f, http.MethodGet, "/v1/archives?app=files&useGitignore=x", "")
	wantCode(t, err, sandboxclient.CodeInvalid, "useGitignore is true or false")
	_, err = serve(f, http.MethodGet, "/v1/archives?app=files&dir=missing", "")
	wantCode(t, err, sandboxclient.CodeNotFound, "")
}
