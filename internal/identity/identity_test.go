package identity

import (
	"strings"
	"testing"

	"sandgate/sandboxclient"
)

func TestAllow(t *testing.T) {
	for _, tc := range []struct {
		id          Identity
		app, method string
		allowed     bool
	}{
		{Identity{}, "files", "PUT", true},
		{Identity{ReadOnly: true}, "files", "GET", true},
		{Identity{ReadOnly: true}, "files", "HEAD", true},
		{Identity{ReadOnly: true}, "files", "PUT", false},
		{Identity{ReadOnly: true}, "search", "DELETE", false},
		{Identity{Apps: []string{"notebook"}}, "notebook", "POST", true},
		{Identity{Apps: []string{"notebook"}}, "executions", "DELETE", true},
		{Identity{Apps: []string{"notebook"}}, "coderunner", "POST", false},
		{Identity{Apps: []string{"notebook"}}, "files", "GET", false},
		{Identity{Apps: []string{"notebook"}}, "sandboxapi", "GET", true},
		{Identity{Apps: []string{"notebook"}}, "sandboxapi", "DELETE", false},
		{Identity{Apps: []string{"files"}}, "executions", "GET", false},
		{Identity{Apps: []string{"files"}}, "session", "GET", true},
	} {
		err := tc.id.Allow(tc.app, tc.method)
		if (err == nil) != tc.allowed {
			t.Errorf("%+v %s %s: %v", tc.id, tc.method, tc.app, err)
		}
		if err != nil {
			refused(t, err, sandboxclient.CodeForbidden)
		}
	}
}

func TestLookAt(t *testing.T) {
	admin := Identity{Owner: "ops", Admin: true}
	got, err := admin.LookAt("alice", "GET")
	if err != nil || got.Owner != "alice" || got.Asker != "ops" || got.Account() != "ops" {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = admin.LookAt("alice", "DELETE")
	refused(t, err, sandboxclient.CodeForbidden)
	_, err = admin.LookAt("a\nb", "GET")
	refused(t, err, sandboxclient.CodeInvalid)
	_, err = Identity{Owner: "bob"}.LookAt("alice", "GET")
	refused(t, err, sandboxclient.CodeForbidden)
}

func TestCheck(t *testing.T) {
	for _, owner := range []string{"alice", "a.b@example.org", "team_7", strings.Repeat("x", 64)} {
		if err := (Key{Owner: owner}).Check(); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []Key{
		{}, {Owner: "a b"}, {Owner: "a\r\nb"}, {Owner: "ä"}, {Owner: strings.Repeat("x", 65)},
		{Owner: "a", Label: "two\nlines"}, {Owner: "a", Apps: []string{"shell"}},
	} {
		if bad.Check() == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
}

// Links that keys made end where keys are not asked for; those made there do not.
func TestAnybody_knowsNoKeys(t *testing.T) {
	refused(t, Anybody{}.CheckKey(t.Context(), "abcd2345"), sandboxclient.CodeUnauthenticated)
	if err := (Anybody{}).CheckKey(t.Context(), ""); err != nil {
		t.Error(err)
	}
}
