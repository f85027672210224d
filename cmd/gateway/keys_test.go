package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sandgate/internal/identity"
	"sandgate/internal/store"
)

func TestKeys(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(t.TempDir(), "audit.log")
	keys := func(args ...string) (int, string, string) {
		return do(t, append([]string{"keys", "--state-dir", dir, "--audit-log", log}, args...)...)
	}
	if exit, out, words := keys("list"); exit != exitOK || out != "" || !strings.Contains(words, "no keys in "+dir) {
		t.Errorf("exit %d\n%s\n%s", exit, out, words)
	}
	exit, out, words := keys("create", "--owner", "alice", "--label", "laptop", "--apps", "files,notebook", "--class", "big", "--expires", "1h")
	token, ok := identity.ParseToken(strings.TrimSpace(out))
	if exit != exitOK || !ok || !strings.Contains(words, "shown this once") || !strings.Contains(words, "--auth keys") ||
		!strings.Contains(words, "class big") || !strings.Contains(words, dir) || strings.Contains(words, token.Reveal()) {
		t.Fatalf("exit %d\n%s\n%s", exit, out, words)
	}
	if exit, out, _ := keys("list"); exit != exitOK || !strings.Contains(out, token.ID()) || !strings.Contains(out, "files,notebook") {
		t.Errorf("exit %d\n%s", exit, out)
	}
	for range 2 { // by the whole key, and again
		if exit, _, words := keys("revoke", token.Reveal()); exit != exitOK || !strings.Contains(words, "is refused from now on") {
			t.Errorf("exit %d %s", exit, words)
		}
	}
	if _, out, _ := keys("list", "--json", "--owner", "alice"); !strings.Contains(out, `"state":"revoked"`) {
		t.Error(out)
	}
	if exit, _, words := keys("revoke", "abcdefgh"); exit != exitFailure || !strings.Contains(words, "there is no such key") {
		t.Errorf("exit %d %s", exit, words)
	}
	audited, err := os.ReadFile(log)
	if err != nil || bytes.Count(audited, []byte("\n")) != 3 || bytes.Contains(audited, []byte(token.Reveal())) {
		t.Errorf("%v\n%s", err, audited)
	}
	noSecretIn(t, dir, token)
}

// Who mistypes a place is told so, and nothing is made there.
func TestKeys_madeNowhere(t *testing.T) {
	typo := filepath.Join(t.TempDir(), "typo")
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"list", "--state-dir", typo}, "there is no state directory " + typo},
		{[]string{"revoke", "abcdefgh", "--state-dir", typo}, "there is no state directory " + typo},
		{[]string{"list", "--database", typo}, "there is no database " + typo},
		{[]string{"revoke", "abcdefgh", "--state-dir", filepath.Dir(typo)}, "there is no such key"},
	} {
		if exit, _, words := do(t, append([]string{"keys"}, tc.args...)...); exit != exitFailure || !strings.Contains(words, tc.want) {
			t.Errorf("%v: exit %d, %s", tc.args, exit, words)
		}
	}
	if exit, _, words := do(t, "keys", "list", "--owner", "nobody", "--state-dir", filepath.Dir(typo)); exit != exitOK || !strings.Contains(words, "no keys of nobody in") {
		t.Errorf("exit %d, %s", exit, words)
	}
	if made, err := os.ReadDir(filepath.Dir(typo)); err != nil || len(made) != 0 {
		t.Errorf("%v, %v", made, err)
	}
}

// A directory that is open to others is closed before it holds a key.
func TestKeys_beforeTheGateway(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if exit, _, words := do(t, "keys", "create", "--owner", "alice", "--state-dir", dir); exit != exitOK {
		t.Fatalf("exit %d %s", exit, words)
	}
	s, err := openState(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// A key for nothing but what works on other apps' sandboxes is made, and remarked on.
func TestKeys_thatReachNothing(t *testing.T) {
	dir := t.TempDir()
	for apps, want := range map[string]bool{"": false, "files": false, "backups,files": false, "backups": true, "executions,shares": true} {
		exit, _, words := do(t, "keys", "create", "--state-dir", dir, "--owner", "alice", "--apps", apps)
		if exit != exitOK || strings.Contains(words, "reaches nothing yet") != want {
			t.Errorf("%q: exit %d, %s", apps, exit, words)
		}
	}
}

// What no audit log will have is remarked on, and what one has is not.
func TestKeys_withoutAuditLog(t *testing.T) {
	dir := t.TempDir()
	log := []string{"--audit-log", filepath.Join(dir, "audit.log")}
	for _, more := range [][]string{nil, log} {
		want := more == nil
		exit, out, words := do(t, append([]string{"keys", "create", "--state-dir", dir, "--owner", "alice"}, more...)...)
		if exit != exitOK || strings.Contains(words, "No audit log") != want {
			t.Errorf("exit %d, %s", exit, words)
		}
		exit, _, words = do(t, append([]string{"keys", "revoke", strings.TrimSpace(out), "--state-dir", dir}, more...)...)
		if exit != exitOK || strings.Contains(words, "No audit log") != want {
			t.Errorf("exit %d, %s", exit, words)
		}
	}
	if _, help, _ := do(t, "keys", "revoke", "--help"); !strings.Contains(help, "--audit-log") {
		t.Error(help)
	}
}

// noSecretIn reads everything that lies in the state directory.
func noSecretIn(t *testing.T, dir string, token identity.Token) {
	t.Helper()
	secret := []byte(token.Reveal()[12:44])
	names, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil || bytes.Contains(data, secret) {
			t.Errorf("%s: %v, or the key is in it", name, err)
		}
	}
}

func TestKeys_refusesNonsense(t *testing.T) {
	dir := t.TempDir()
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"no owner":  {[]string{"create"}, "--owner NAME"},
		"an app":    {[]string{"create", "--owner", "a", "--apps", "shell"}, `app "shell"`},
		"a time":    {[]string{"create", "--owner", "a", "--expires", "-1h"}, "expires"},
		"no time":   {[]string{"create", "--owner", "a", "--expires", "5"}, `--expires: "5" is no duration such as 90s, 10m or 30d`},
		"no choice": {[]string{"list", "--json=x"}, `--json: "x" is no true or false`},
		"no key":    {[]string{"revoke"}, "takes one argument"},
		"two words": {[]string{"list", "x"}, "takes no \"x\""},
		"a typo":    {[]string{"creat"}, "did you mean gateway keys create"},
	} {
		exit, out, words := do(t, append([]string{"keys", "--state-dir", dir}, tc.args...)...)
		if exit == exitOK || out != "" || !strings.Contains(words, tc.want) {
			t.Errorf("%s: exit %d\n%s\n%s", name, exit, out, words)
		}
	}
}

func TestKeys_help(t *testing.T) {
	for _, args := range [][]string{{"keys"}, {"keys", "--help"}, {"keys", "create", "--help"}, {"help", "keys", "list"}} {
		exit, out, _ := do(t, args...)
		if exit != exitOK || !strings.Contains(out, "--state-dir") || strings.Contains(out, "--npm-registry") || strings.Contains(out, "[=") || strings.Contains(out, "[]") {
			t.Errorf("%v: exit %d\n%s", args, exit, out)
		}
	}
}

func TestHazards(t *testing.T) {
	safe := defaults()
	safe.Auth, safe.Quotas, safe.AuditLog = authKeys, []string{"default.rate=5"}, "/var/log/sandgate/audit.log"
	if got := there(hazards(safe, 1)); len(got) != 0 {
		t.Errorf("warns of what is safe: %v", got)
	}
	if got := there(hazards(defaults(), 0)); len(got) != 0 {
		t.Errorf("warns of the defaults: %v", got)
	}
	risky := safe
	risky.Listen, risky.AdminListen, risky.Runtime, risky.Quotas, risky.AuditLog = "0.0.0.0:80", ":81", "/usr/bin/runc", nil, ""
	risky.AllowUnprovenIsolation = true
	if got := there(hazards(risky, 0)); len(got) != 7 {
		t.Errorf("%d warnings: %v", len(got), got)
	}
	open := defaults()
	open.Listen = "[::]:80"
	if got := there(hazards(open, 0)); len(got) != 1 {
		t.Error(got)
	}
}

func there(all []hazard) []string {
	var words []string
	for _, h := range all {
		if h.there {
			words = append(words, h.words)
		}
	}
	return words
}

func TestGoodKeys(t *testing.T) {
	cfg := defaults()
	cfg.Auth, cfg.StateDir = authKeys, t.TempDir()
	if n := goodKeys(t.Context(), cfg); n != 0 {
		t.Error(n)
	}
	if _, err := os.Stat(cfg.database()); err == nil {
		t.Error("looking made a database")
	}
	s, err := store.Open(t.Context(), cfg.database())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.CreateKey(t.Context(), identity.Key{ID: "a", Owner: "a", Hash: []byte{1}}); err != nil {
		t.Fatal(err)
	}
	if n := goodKeys(t.Context(), cfg); n != 1 {
		t.Error(n)
	}
}
