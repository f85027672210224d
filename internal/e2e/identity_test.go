package e2e

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sandgate/internal/sandboxtest"
)

// keyed is a gateway that asks for keys.
type keyed struct {
	*sandboxtest.Gateway
	t *testing.T
}

func startKeyed(t *testing.T, args ...string) keyed {
	t.Helper()
	return keyed{start(t, append([]string{"--auth", "keys"}, args...)...), t}
}

// command runs `gateway keys` beside the gateway that runs.
func (k keyed) command(args ...string) string {
	k.t.Helper()
	cmd := exec.CommandContext(k.t.Context(), sandboxtest.Bin("gateway"), append([]string{"keys", "--state-dir", k.Dir}, args...)...)
	out, err := cmd.Output()
	if err != nil {
		k.t.Fatalf("keys %v: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

// a key, as the header that shows it.
type bearer []string

func (k keyed) key(owner string, args ...string) bearer {
	k.t.Helper()
	return bearer{"Authorization", "Bearer " + k.command(append([]string{"create", "--owner", owner}, args...)...)}
}

func (k keyed) ask(who bearer, method, target, body string) answer {
	k.t.Helper()
	return ask(k.t, method, k.URL+target, body, who...)
}

// Two owners have the same notebook each, and neither finds what is the other's:
// that answers as what was never there does.
func TestIdentity_ownersAreApart(t *testing.T) {
	t.Parallel()
	k := startKeyed(t)
	alice, bob, admin := k.key("alice"), k.key("bob"), k.key("ops", "--admin")
	if got := k.ask(alice, "POST", "/notebook", "x=1").cell(); got.Status != "exited" {
		t.Fatalf("%+v", got)
	}
	if got := k.ask(bob, "POST", "/notebook", "x").cell(); got.Error == nil || got.Error.Name != "NameError" {
		t.Errorf("bob sees %+v", got)
	}
	k.ask(alice, "PUT", "/files?path=mine", "hers").has(200)
	k.ask(bob, "GET", "/files?path=mine", "").has(404)
	if got := k.ask(bob, "GET", "/search?q=hers", ""); got.body != "" {
		t.Errorf("bob finds %q", got.body)
	}

	hers := k.ask(alice, "POST", "/run", "print(1)").has(200).header.Get("Location")
	never := "/executions/00000000-0000-4000-8000-000000000000"
	k.ask(alice, "GET", hers, "").has(200)
	for _, method := range []string{"GET", "DELETE"} {
		got, want := k.ask(bob, method, hers, ""), k.ask(bob, method, never, "")
		want.has(404)
		got.is(want.status, want.body)
	}
	for _, path := range []string{"/tests/", "/v1/backups/"} {
		k.ask(bob, "GET", path+"00000000-0000-4000-8000-000000000000", "").has(404)
	}

	k.ask(admin, "GET", hers, "").has(404)
	k.ask(admin, "GET", hers+"?owner=alice", "").has(200)
	k.ask(admin, "DELETE", hers+"?owner=alice", "").has(403)
	k.ask(bob, "GET", hers+"?owner=alice", "").has(403)
	k.ask(nil, "POST", "/run", "print(1)").has(401, "Authorization: Bearer")
}

// A key is good as soon as it is made and refused soon after it is revoked, while
// the gateway runs; a read-only one looks.
func TestIdentity_keysWithoutARestart(t *testing.T) {
	t.Parallel()
	k := startKeyed(t)
	alice, reader, short := k.key("alice"), k.key("alice", "--read-only"), k.key("alice", "--expires", "1ms")
	k.ask(alice, "PUT", "/files?path=a", "1").has(200)
	k.ask(reader, "GET", "/files?path=a", "").is(200, "1")
	k.ask(reader, "PUT", "/files?path=a", "2").has(403, "may look")
	k.ask(short, "GET", "/files?path=a", "").has(401, "expired")
	key := strings.TrimPrefix(alice[1], "Bearer ")
	k.ask(alice, "GET", "/files?path=a&key="+key, "").has(400, "revoked")

	k.command("revoke", key)
	eventually(t, "the key is refused", func() bool { return k.ask(alice, "GET", "/files?path=a", "").status == 401 })
	k.ask(reader, "GET", "/files?path=a", "").is(200, "1")
	if list := k.command("list"); strings.Count(list, "\n") != 3 || !strings.Contains(list, "revoked") || strings.Contains(list, key) {
		t.Errorf("%s", list)
	}
	if strings.Contains(k.Log(), key) {
		t.Error("the key is in the log")
	}
}

// A browser shows its key once; what other sites make it send does not count.
func TestIdentity_session(t *testing.T) {
	t.Parallel()
	k := startKeyed(t)
	key := strings.TrimPrefix(k.key("alice")[1], "Bearer ")
	k.ask(nil, "GET", "/app/", "").has(200)
	k.ask(nil, "POST", "/v1/session", "sg_wrong").has(401)
	in := k.ask(nil, "POST", "/v1/session", `{"key":"`+key+`"}`).has(200, `"owner":"alice"`)
	set := in.header.Get("Set-Cookie")
	if !strings.Contains(set, "HttpOnly") || !strings.Contains(set, "SameSite=Strict") || strings.Contains(set, key) {
		t.Errorf("the cookie: %s", set)
	}
	name, _, _ := strings.Cut(set, ";")
	cookie := bearer{"Cookie", name}
	k.ask(cookie, "POST", "/run", "print(1)").has(200)
	k.ask(append(cookie, "Sec-Fetch-Site", "same-origin"), "GET", "/v1/session", "").has(200, `"alice"`)
	k.ask(append(cookie, "Sec-Fetch-Site", "same-site"), "GET", "/v1/session", "").has(401)
	k.ask(append(cookie, "Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"), "POST", "/run", "1").has(403)
	k.ask(append(cookie, "Sec-Fetch-Site", "cross-site"), "DELETE", "/v1/session", "").has(403)
	k.ask(cookie, "DELETE", "/v1/session", "").has(204)
	k.ask(cookie, "GET", "/v1/session", "").has(401)
}

// A link opens what was shared, to whoever has it, and nothing else.
func TestIdentity_shares(t *testing.T) {
	t.Parallel()
	k := startKeyed(t)
	alice := k.key("alice")
	k.ask(alice, "PUT", "/files?path=open/a.txt", "open").has(200)
	k.ask(alice, "PUT", "/files?path=secret.txt", "secret").has(200)
	share := func(what string) string {
		t.Helper()
		var link struct{ URL string }
		if err := json.Unmarshal([]byte(k.ask(alice, "POST", "/v1/shares", what).has(201).body), &link); err != nil {
			t.Fatal(err)
		}
		return link.URL
	}
	file, dir := share(`{"file":"open/a.txt"}`), share(`{"dir":"open","ttl":"1h"}`)
	k.ask(nil, "GET", file, "").is(200, "open")
	k.ask(nil, "GET", dir, "").has(200, "a.txt")
	k.ask(nil, "GET", dir+"/a.txt", "").is(200, "open")
	k.ask(nil, "GET", share(`{"file":"open"}`), "").has(404) // a file is no directory
	for _, target := range []string{
		file + "/a.txt", dir + "/..%2Fsecret.txt", dir + "/../secret.txt", dir + "/%2E%2E/secret.txt", dir + "/b.txt",
		dir[:len(dir)-2], dir + "A", "/s/x", "/s/" + url.PathEscape("."),
	} {
		if got := k.ask(nil, "GET", target, ""); got.status != 404 || strings.Contains(got.body, "secret") {
			t.Errorf("%s: %d %s", target, got.status, got.body)
		}
	}
	k.ask(nil, "PUT", dir+"/a.txt", "x").has(401)
	k.ask(nil, "DELETE", dir+"/a.txt", "").has(401)
	k.ask(alice, "POST", "/v1/shares", `{"run":"00000000-0000-4000-8000-000000000000"}`).has(404)

	k.command("revoke", strings.TrimPrefix(alice[1], "Bearer "))
	eventually(t, "the link is gone with its key", func() bool { return k.ask(nil, "GET", file, "").status == 404 })
}

// A link within a shared directory that leads out of it is not followed.
func TestIdentity_sharesFollowNoLinks(t *testing.T) {
	t.Parallel()
	k := startKeyed(t)
	alice := k.key("alice")
	k.ask(alice, "PUT", "/files?path=secret/s.txt", "secret").has(200)
	k.ask(alice, "PUT", "/files?path=open/a.txt", "open").has(200)
	var link struct{ URL string }
	if err := json.Unmarshal([]byte(k.ask(alice, "POST", "/v1/shares", `{"dir":"open"}`).has(201).body), &link); err != nil {
		t.Fatal(err)
	}
	// No request makes a link; on the host the workspace is a directory.
	plantLink(t, k.Gateway, "../secret", "open/up")
	plantLink(t, k.Gateway, "../secret/s.txt", "open/direct")
	for _, name := range []string{"/up/s.txt", "/up", "/direct"} {
		if got := k.ask(nil, "GET", link.URL+name, ""); got.status != 404 {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
}

// plantLink makes a symbolic link in the workspace that holds a directory open.
func plantLink(t *testing.T, g *sandboxtest.Gateway, target, name string) {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(g.Dir, "sandboxes", "*", "workspace", "open"))
	if err != nil || len(dirs) != 1 {
		t.Fatalf("%v, %v", dirs, err)
	}
	if err := os.Symlink(target, filepath.Join(dirs[0], "..", name)); err != nil {
		t.Fatal(err)
	}
}

// Each owner has what its class allows, and is told in words and headers.
func TestQuotas(t *testing.T) {
	t.Parallel()
	k := startKeyed(t, "--quota", "default.running=1,default.executions=1,slow.rate=1,slow.burst=2,small.disk=2GiB")
	alice, bob := k.key("alice"), k.key("bob")
	slow, small := k.key("carol", "--class", "slow"), k.key("dave", "--class", "small")

	v := watch(t, "POST", k.URL+"/notebook?notebook=a", "print('begun', flush=True)\nimport time\ntime.sleep(600)", alice...)
	for v.next().Type != "stdout" {
	}
	k.ask(alice, "POST", "/notebook?notebook=a", "1").has(429, "of yours are at work already")
	k.ask(alice, "PUT", "/files?path=a", "1").has(429, "sandboxes of yours run as may, 1")
	k.ask(bob, "POST", "/run", "print(1)").has(200)
	k.ask(alice, "POST", "/notebook/interrupt?notebook=a", "").has(204)

	for range 2 {
		k.ask(slow, "GET", "/v1/capabilities", "").has(200)
	}
	got := k.ask(slow, "GET", "/v1/capabilities", "").has(429, "requests a second")
	if got.header.Get("Retry-After") == "" || got.header.Get("RateLimit-Limit") != "2" || got.header.Get("RateLimit-Remaining") != "0" {
		t.Errorf("%v", got.header)
	}
	k.ask(small, "POST", "/run", "print(1)").has(200)
	k.ask(small, "PUT", "/files?path=a", "1").has(http.StatusInsufficientStorage, "MiB that you may fill")
	ask(t, "GET", k.Admin+"/metrics", "").has(200,
		`sandgate_quota_refused_total{class="default",limit="executions"} 1`, `sandgate_quota_refused_total{class="default",limit="running"} 1`,
		`sandgate_quota_refused_total{class="slow",limit="rate"} 1`, `sandgate_quota_refused_total{class="small",limit="disk"} 1`)
}

// The audit log tells who did what to what, and holds nothing of it.
func TestAudit(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	k := startKeyed(t, "--audit-log", path)
	alice := k.key("alice")
	k.ask(alice, "POST", "/notebook?notebook=mine", "secret = 'needle'").has(200)
	k.ask(alice, "PUT", "/files?path=needle", "needle").has(200)
	k.ask(nil, "POST", "/run", "needle").has(401)
	var link struct{ URL string }
	if err := json.Unmarshal([]byte(k.ask(alice, "POST", "/v1/shares", `{"file":"needle"}`).has(201).body), &link); err != nil {
		t.Fatal(err)
	}
	k.ask(nil, "GET", link.URL, "").is(200, "needle")
	var kept backup
	if err := json.Unmarshal([]byte(k.ask(alice, "POST", "/v1/backups", `{"app":"files"}`).has(201).body), &kept); err != nil {
		t.Fatal(err)
	}
	k.ask(alice, "POST", "/v1/backups/"+kept.ID+"/restore", "").has(200)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		`"owner":"alice"`, `"action":"POST /notebook"`, `"notebook":"mine"`, `"outcome":"unauthenticated"`, `"action":"PUT /files"`, `"action":"GET /s/:token"`, `"target":{"app":"files","name":"files"}`,
		`"target":{"app":"files","made":"` + kept.ID + `","name":"files"}`, `"target":{"app":"files","id":"` + kept.ID + `","name":"files"}`,
	} {
		if !strings.Contains(string(text), part) {
			t.Errorf("%s is not in\n%s", part, text)
		}
	}
	if strings.Contains(string(text), "needle") {
		t.Errorf("content is in\n%s", text)
	}
}
