package testrunner

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"sandgate/internal/identity"
	"sandgate/internal/runlog"
	"sandgate/internal/runs"
	"sandgate/sandboxclient"
)

// fake is an engine of functions.
type fake struct {
	start    func(runs.Request) (runs.Summary, error)
	get      func(id string) (runs.Summary, error)
	list     func(after runs.Position, limit int) ([]runs.Summary, runs.Position, error)
	cancel   func(id string) error
	events   func(ctx context.Context, id string, after int64) iter.Seq2[runlog.Line, error]
	artifact func(id, name string) (runs.Attachment, error)
}

func (f *fake) Start(_ context.Context, _ string, req runs.Request) (runs.Summary, error) {
	return f.start(req)
}
func (f *fake) Get(_ context.Context, _, id string) (runs.Summary, error) { return f.get(id) }
func (f *fake) List(_ context.Context, _ string, after runs.Position, limit int) ([]runs.Summary, runs.Position, error) {
	return f.list(after, limit)
}
func (f *fake) Cancel(_ context.Context, _, id string) error { return f.cancel(id) }
func (f *fake) Events(ctx context.Context, _, id string, after int64) iter.Seq2[runlog.Line, error] {
	return f.events(ctx, id, after)
}
func (f *fake) Artifact(_ context.Context, _, id, name string, _ int64) (runs.Attachment, error) {
	return f.artifact(id, name)
}

// serve answers one request.
func serve(f *fake, method, target, body string, header ...string) (*httptest.ResponseRecorder, error) {
	return serveContext(context.Background(), f, method, target, body, header...)
}

func serveContext(ctx context.Context, f *fake, method, target, body string, header ...string) (*httptest.ResponseRecorder, error) {
	h := New(f, f)
	e := echo.New()
	e.POST("/tests", h.Start)
	e.GET("/tests", h.List)
	e.GET("/tests/:run", h.Get)
	e.DELETE("/tests/:run", h.Cancel)
	e.GET("/tests/:run/events", h.Events)
	e.GET("/tests/:run/artifacts/*", h.Artifact)
	var failure error
	e.HTTPErrorHandler = func(err error, _ echo.Context) { failure = err }
	r := httptest.NewRequest(method, target, strings.NewReader(body)).WithContext(ctx)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	e.ServeHTTP(w, r)
	return w, failure
}

// lines are a log's.
func lines(events ...string) iter.Seq2[runlog.Line, error] {
	return func(yield func(runlog.Line, error) bool) {
		for i, e := range events {
			if !yield(runlog.Line{Seq: int64(i + 1), Event: []byte(e)}, nil) {
				return
			}
		}
	}
}

func TestStart_readsAddressOrJSON(t *testing.T) {
	const address = "https://git.example/you/project.git"
	for body, want := range map[string]runs.Request{
		address:                            {Repository: address},
		" \n" + address + "\n":             {Repository: address},
		`{"repository":"` + address + `"}`: {Repository: address},
		`{"repository":"x","ref":"v1","command":"make","env":{"A":"b"},"timeout":90,"onDisconnect":"continue","artifacts":["a/**"],"submodules":true,"lfs":true}`: {
			Repository: "x", Ref: "v1", Command: "make", Env: map[string]string{"A": "b"}, Timeout: 90 * time.Second,
			Artifacts: []string{"a/**"}, Submodules: true, LFS: true,
		},
		`{"repository":"x","timeout":"1m30s"}`:                    {Repository: "x", Timeout: 90 * time.Second},
		`{"repository":"x","timeout":null,"env":null,"ref":null}`: {Repository: "x"},
	} {
		var got runs.Request
		f := &fake{
			start:  func(req runs.Request) (runs.Summary, error) { got = req; return runs.Summary{ID: "r"}, nil },
			events: func(context.Context, string, int64) iter.Seq2[runlog.Line, error] { return lines(`{"type":"start"}`) },
		}
		w, err := serve(f, http.MethodPost, "/tests", body, "Content-Type", "application/x-www-form-urlencoded")
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v, %v\nwant %+v", body, got, err, want)
		}
		if w.Header().Get("Location") != "/tests/r" || w.Body.String() != "id: 1\ndata: {\"type\":\"start\"}\n\n" {
			t.Errorf("%v %q", w.Header(), w.Body)
		}
	}
}

func TestStart_refusesWhatItDoesNotUnderstand(t *testing.T) {
	for body, words := range map[string]string{
		"":                                     "The body is the address",
		" \n":                                  "The body is the address",
		"{":                                    "not a JSON object",
		`{"repository":"x"} y`:                 "more than one",
		`{"repository":"x","Ref":"y","cmd":1}`: "no field Ref, cmd",
		`{"repository":1}`:                     "repository is text",
		`{"env":{"A":1}}`:                      "env is an object of texts",
		`{"artifacts":"x"}`:                    "artifacts is a list",
		`{"timeout":0}`:                        "timeout is a duration",
		`{"timeout":"soon"}`:                   "timeout is a duration",
		`{"onDisconnect":"perhaps"}`:           "onDisconnect is cancel or continue",
		`{"backup":{"ttl":"2y"}}`:              "backup.ttl is a duration",
		`{"lfs":"yes"}`:                        "lfs is true or false",
		strings.Repeat("x", maxBody+1):         "larger",
	} {
		_, err := serve(&fake{}, http.MethodPost, "/tests", body)
		e, ok := errors.AsType[*sandboxclient.Error](err)
		if !ok || !strings.Contains(e.Message, words) {
			t.Errorf("%.40q: %v, want %q", body, err, words)
		}
	}
}

// Backups of other apps than those that the key is for are no base of a run.
func TestStart_passesOnWhatTheKeyIsFor(t *testing.T) {
	var got runs.Request
	f := &fake{start: func(r runs.Request) (runs.Summary, error) { got = r; return runs.Summary{ID: "r"}, nil }}
	ctx := identity.With(t.Context(), identity.Identity{Owner: "alice", Apps: []string{App}})
	_, err := serveContext(ctx, f, http.MethodPost, "/tests", `{"restore":"b"}`, "Accept", "application/json")
	if err != nil || !slices.Equal(got.Apps, []string{App}) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestStart_asJSONDoesNotWait(t *testing.T) {
	f := &fake{start: func(runs.Request) (runs.Summary, error) { return runs.Summary{ID: "r", Status: "queued"}, nil }}
	w, err := serve(f, http.MethodPost, "/tests", "x", "Accept", "application/json")
	if err != nil || w.Code != http.StatusAccepted || w.Header().Get("Location") != "/tests/r" || !strings.Contains(w.Body.String(), `"status":"queued"`) {
		t.Errorf("%d %v %s %v", w.Code, w.Header(), w.Body, err)
	}
	if _, err := serve(f, http.MethodPost, "/tests", `{"repository":"x","onDisconnect":"cancel"}`, "Accept", "application/json"); sandboxclient.CodeOf(err) != sandboxclient.CodeInvalid {
		t.Errorf("nobody watches: %v", err)
	}
}

// Only a viewer who leaves, and asked for it, ends the run.
func TestStart_leavingCancelsOrNotAsAsked(t *testing.T) {
	stopping := &sandboxclient.Error{Code: sandboxclient.CodeUnavailable, Message: "stopping"}
	for _, c := range []struct {
		policy string
		cause  error // nil: the run ends before
		want   bool
	}{
		{"cancel", context.Canceled, true},
		{"cancel", stopping, false},
		{"cancel", nil, false},
		{"continue", context.Canceled, false},
		{"", context.Canceled, false},
	} {
		ctx, leave := context.WithCancelCause(context.Background())
		canceled := false
		f := &fake{
			start:  func(runs.Request) (runs.Summary, error) { return runs.Summary{ID: "r"}, nil },
			cancel: func(string) error { canceled = true; return nil },
			events: func(ctx context.Context, _ string, _ int64) iter.Seq2[runlog.Line, error] {
				return func(yield func(runlog.Line, error) bool) {
					if !yield(runlog.Line{Seq: 1, Event: []byte("{}")}, nil) || c.cause == nil {
						return
					}
					leave(c.cause)
					<-ctx.Done()
					yield(runlog.Line{}, ctx.Err())
				}
			},
		}
		_, _ = serveContext(ctx, f, http.MethodPost, "/tests", `{"repository":"x","onDisconnect":"`+c.policy+`"}`)
		if canceled != c.want {
			t.Errorf("%+v: canceled %v", c, canceled)
		}
		leave(nil)
	}
}

func TestEvents_goOnAfterANumber(t *testing.T) {
	f := &fake{events: func(_ context.Context, id string, after int64) iter.Seq2[runlog.Line, error] {
		return func(yield func(runlog.Line, error) bool) {
			yield(runlog.Line{Seq: after + 1, Event: []byte(`{"run":"` + id + `"}`)}, nil)
		}
	}}
	for target, header := range map[string]string{"/tests/r/events": "40", "/tests/r/events?after=40": ""} {
		w, err := serve(f, http.MethodGet, target, "", "Last-Event-ID", header)
		if err != nil || w.Body.String() != "id: 41\ndata: {\"run\":\"r\"}\n\n" {
			t.Errorf("%s: %q, %v", target, w.Body, err)
		}
	}
	if _, err := serve(f, http.MethodGet, "/tests/r/events?after=x", ""); sandboxclient.CodeOf(err) != sandboxclient.CodeInvalid {
		t.Errorf("after=x: %v", err)
	}
}

func TestList_pages(t *testing.T) {
	want := runs.Position{CreatedAt: time.Date(2026, 1, 2, 3, 4, 5, 678000, time.UTC), ID: "b"}
	var after runs.Position
	f := &fake{list: func(p runs.Position, limit int) ([]runs.Summary, runs.Position, error) {
		after = p
		return []runs.Summary{{ID: "a"}}, want, nil
	}}
	w, err := serve(f, http.MethodGet, "/tests?limit=1", "")
	if err != nil || after != (runs.Position{}) {
		t.Fatalf("%v, after %+v", err, after)
	}
	_, next, found := strings.Cut(strings.TrimSuffix(strings.TrimSpace(w.Body.String()), `"}`), `"next":"`)
	if !found {
		t.Fatalf("no next in %s", w.Body)
	}
	if _, err := serve(f, http.MethodGet, "/tests?after="+next, ""); err != nil || after != want {
		t.Errorf("after %+v, %v; want %+v", after, err, want)
	}
	for _, query := range []string{"limit=0", "limit=101", "limit=x", "after=%00", "after=YQ"} {
		if _, err := serve(f, http.MethodGet, "/tests?"+query, ""); sandboxclient.CodeOf(err) != sandboxclient.CodeInvalid {
			t.Errorf("%s: %v", query, err)
		}
	}
	f.list = func(runs.Position, int) ([]runs.Summary, runs.Position, error) {
		return []runs.Summary{}, runs.Position{}, nil
	}
	if w, err := serve(f, http.MethodGet, "/tests", ""); err != nil || w.Body.String() != "{\"runs\":[]}\n" {
		t.Errorf("none: %s %v", w.Body, err)
	}
}

func TestGetAndCancel(t *testing.T) {
	f := &fake{
		get:    func(id string) (runs.Summary, error) { return runs.Summary{ID: id, Artifacts: []runs.Artifact{}}, nil },
		cancel: func(string) error { return nil },
	}
	if w, err := serve(f, http.MethodGet, "/tests/r", ""); err != nil || !strings.Contains(w.Body.String(), `{"id":"r"`) || !strings.Contains(w.Body.String(), `"artifacts":[]`) {
		t.Errorf("%s %v", w.Body, err)
	}
	if w, err := serve(f, http.MethodDelete, "/tests/r", ""); err != nil || w.Code != http.StatusNoContent {
		t.Errorf("%d %v", w.Code, err)
	}
}

// Whatever a file is called, it is the one that is asked for, and no browser
// shows it.
func TestArtifact_isADownload(t *testing.T) {
	for _, name := range []string{"a.html", "deep/é, odd?#%41 name.txt", "50%.txt", "a;b\".svg"} {
		var got string
		f := &fake{artifact: func(_, name string) (runs.Attachment, error) {
			got = name
			return runs.Attachment{Artifact: runs.Artifact{Name: name, Size: 3}, Body: io.NopCloser(strings.NewReader("abc"))}, nil
		}}
		target := runs.ArtifactPath("r", name)
		w, err := serve(f, http.MethodGet, target, "")
		if err != nil || got != name || w.Body.String() != "abc" {
			t.Errorf("%s: %q, %q, %v", target, got, w.Body, err)
		}
		header := w.Header()
		if !strings.HasPrefix(header.Get("Content-Disposition"), "attachment") || header.Get("Content-Type") != "application/octet-stream" ||
			!strings.HasPrefix(header.Get("Content-Security-Policy"), "sandbox") || header.Get("Content-Length") != "3" {
			t.Errorf("%s: %v", target, header)
		}
	}
}
