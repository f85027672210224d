package shares

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"sandgate/internal/identity"
	"sandgate/internal/runs"
	"sandgate/sandboxclient"
)

// known has one run, "r", of alice's.
type known struct{}

func (known) Get(_ context.Context, owner, id string) (runs.Summary, error) {
	if owner != "alice" || id != "r" {
		return runs.Summary{}, sandboxclient.Errorf(sandboxclient.CodeNotFound, "There is no such run")
	}
	return runs.Summary{}, nil
}

var sharer = identity.NewSharer([]byte("key"))

func create(t *testing.T, id identity.Identity, body string) (identity.Share, error) {
	t.Helper()
	return createBy(t, New(sharer, known{}), id, body)
}

func createBy(t *testing.T, h *Handler, id identity.Identity, body string) (identity.Share, error) {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/v1/shares", strings.NewReader(body))
	w := httptest.NewRecorder()
	c := echo.New().NewContext(r.WithContext(identity.With(t.Context(), id)), w)
	if err := h.Create(c); err != nil {
		return identity.Share{}, err
	}
	var answer link
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != http.StatusCreated {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	token, ok := strings.CutPrefix(answer.URL, Prefix)
	if !ok {
		t.Fatal(answer.URL)
	}
	return sharer.Open(token, time.Now())
}

func TestCreate(t *testing.T) {
	alice := identity.Identity{Owner: "alice", Key: "k"}
	long := strings.Repeat("ä/", 1300)
	for body, want := range map[string]identity.Share{
		`{"file":"` + long + `b"}`:        {Kind: "file", Target: "/workspace/" + long + "b"},
		`{"run":"r"}`:                     {Kind: "run", Target: "r"},
		`{"file":"a/b.txt","ttl":60}`:     {Kind: "file", Target: "/workspace/a/b.txt"},
		`{"dir":"","ttl":"12h"}`:          {Kind: "dir", Target: "/workspace"},
		`{"dir":"/workspace/x","ttl":""}`: {Kind: "dir", Target: "/workspace/x"},
	} {
		got, err := create(t, alice, body)
		want.Owner, want.Key, want.Expires = "alice", "k", got.Expires
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v", body, got, err)
		}
	}
}

func TestCreate_refuses(t *testing.T) {
	alice := identity.Identity{Owner: "alice"}
	for _, tc := range []struct {
		id   identity.Identity
		body string
		code sandboxclient.Code
	}{
		{alice, `{"run":"other"}`, sandboxclient.CodeNotFound},
		{identity.Identity{Owner: "bob"}, `{"run":"r"}`, sandboxclient.CodeNotFound},
		{identity.Identity{Owner: "alice", Apps: []string{"shares"}}, `{"run":"r"}`, sandboxclient.CodeForbidden},
		{identity.Identity{Owner: "alice", Apps: []string{"shares"}}, `{"dir":""}`, sandboxclient.CodeForbidden},
		{alice, `{}`, sandboxclient.CodeInvalid},
		{alice, `run`, sandboxclient.CodeInvalid},
		{alice, `{"dir":"x","expires":60}`, sandboxclient.CodeInvalid},
		{alice, `{"dir":"x"} {"ttl":60}`, sandboxclient.CodeInvalid},
		{alice, `{"file":"` + strings.Repeat("a", 4097) + `"}`, sandboxclient.CodeInvalid},
		{alice, `{"file":"` + strings.Repeat("<", 2000) + `"}`, sandboxclient.CodeInvalid},
		{alice, `{"file":"../etc/passwd"}`, sandboxclient.CodeInvalid},
		{alice, `{"file":"a\u0000b"}`, sandboxclient.CodeInvalid},
		{alice, `{"file":"a","dir":"a"}`, sandboxclient.CodeInvalid},
		{alice, `{"run":"r","dir":"a"}`, sandboxclient.CodeInvalid},
		{alice, `{"run":"r","ttl":0}`, sandboxclient.CodeInvalid},
		{alice, `{"run":"r","ttl":-5}`, sandboxclient.CodeInvalid},
		{alice, `{"run":"r","ttl":1e300}`, sandboxclient.CodeInvalid},
		{alice, `{"run":"r","ttl":"forever"}`, sandboxclient.CodeInvalid},
		{alice, `{"run":"r","ttl":"721h"}`, sandboxclient.CodeInvalid},
	} {
		if _, err := create(t, tc.id, tc.body); sandboxclient.CodeOf(err) != tc.code {
			t.Errorf("%.80s: %v", tc.body, err)
		}
	}
}

// room is a workspace with one file, "a".
type room struct{ exists, running, broken bool }

func (r room) Exists() bool  { return r.exists }
func (r room) Running() bool { return r.running }

func (r room) Stat(_ context.Context, path string) (sandboxclient.FileInfo, error) {
	switch {
	case !r.running:
		panic("the look wakes it")
	case r.broken:
		return sandboxclient.FileInfo{}, sandboxclient.Errorf(sandboxclient.CodeUnavailable, "later")
	case path != "/workspace/a":
		return sandboxclient.FileInfo{}, sandboxclient.Errorf(sandboxclient.CodeNotFound, "There is no such file")
	}
	return sandboxclient.FileInfo{Type: "file"}, nil
}

// What is known not to exist is not shared; nothing is woken or made to know it.
func TestCreate_looks(t *testing.T) {
	for _, tc := range []struct {
		room room
		body string
		code sandboxclient.Code // "" for a link
	}{
		{room{exists: true, running: true}, `{"file":"a"}`, ""},
		{room{exists: true, running: true}, `{"file":"b"}`, sandboxclient.CodeNotFound},
		{room{exists: true, running: true}, `{"dir":"b"}`, sandboxclient.CodeNotFound},
		{room{exists: true, running: true, broken: true}, `{"file":"b"}`, ""},
		{room{exists: true}, `{"file":"b"}`, ""},
		{room{}, `{"file":"a"}`, sandboxclient.CodeNotFound},
		{room{}, `{"run":"r"}`, ""},
	} {
		h := New(sharer, known{}).Look(func(owner string) Workspace {
			if owner != "alice" {
				t.Errorf("a look into what is %s's", owner)
			}
			return tc.room
		})
		_, err := createBy(t, h, identity.Identity{Owner: "alice"}, tc.body)
		if tc.code == "" && err != nil || tc.code != "" && sandboxclient.CodeOf(err) != tc.code {
			t.Errorf("%+v %s: %v", tc.room, tc.body, err)
		}
	}
}
