package e2e

import (
	"crypto/rand"
	"encoding/json"
	"testing"
)

// never is an id that nothing ever had.
const never = "00000000-0000-4000-8000-000000000000"

// Somebody else's run, its events and artifacts answer as what never was; a link
// to the run opens all three, and nothing else.
func TestIdentity_runs(t *testing.T) {
	t.Parallel()
	l := openLab(t, "--auth", "keys", "--quota", "queue.runs=1")
	k := keyed{l.Gateway, t}
	alice, bob, queue := k.key("alice"), k.key("bob"), k.key("carol", "--class", "queue")
	project := l.project("mine", plain("echo kept > kept.txt", nil))
	order, err := json.Marshal(map[string]any{"repository": project, "artifacts": []string{"*.txt"}})
	if err != nil {
		t.Fatal(err)
	}
	run := k.ask(alice, "POST", "/tests", string(order)).has(200, `"type":"complete"`).header.Get("Location")
	k.ask(alice, "GET", run+"/artifacts/kept.txt", "").is(200, "kept\n")
	for _, below := range []string{"", "/events", "/artifacts/kept.txt"} {
		want := k.ask(bob, "GET", "/tests/"+never+below, "").has(404)
		k.ask(bob, "GET", run+below, "").is(404, want.body)
	}
	k.ask(bob, "DELETE", run, "").has(404)
	k.ask(bob, "GET", "/tests", "").has(200, `"runs":[]`)
	k.ask(bob, "POST", "/v1/shares", `{"run":"`+run[len("/tests/"):]+`"}`).has(404)

	var link struct{ URL string }
	if err := json.Unmarshal([]byte(k.ask(alice, "POST", "/v1/shares", `{"run":"`+run[len("/tests/"):]+`"}`).has(201).body), &link); err != nil {
		t.Fatal(err)
	}
	k.ask(nil, "GET", link.URL, "").has(200, project)
	k.ask(nil, "GET", link.URL+"/events", "").has(200, `"type":"complete"`)
	k.ask(nil, "GET", link.URL+"/artifacts/kept.txt", "").is(200, "kept\n")
	for _, below := range []string{"/artifacts/other", "/artifacts/../../" + never, "/artifacts", "/cancel"} {
		k.ask(nil, "GET", link.URL+below, "").has(404)
	}

	// A run that has not ended counts; those at once with it are counted too.
	endless, err := json.Marshal(map[string]any{"repository": l.project("endless", plain("sleep 600", nil))})
	if err != nil {
		t.Fatal(err)
	}
	first := ask(t, "POST", k.URL+"/tests", string(endless), append(queue, "Accept", "application/json")...).has(202).header.Get("Location")
	k.ask(queue, "POST", "/tests", string(endless)).has(429, "have not ended as may be, 1")
	k.ask(queue, "DELETE", first, "").has(204)
}

// Files that were deleted come back from a backup for their owner; for anybody
// else there is no such backup.
func TestIdentity_backups(t *testing.T) {
	t.Parallel()
	k := startKeyed(t, "--quota", "full.objects=1KiB")
	alice, bob, full := k.key("alice"), k.key("bob"), k.key("dave", "--class", "full")
	k.ask(alice, "PUT", "/files?path=a.txt", "kept").has(200)
	var b struct{ ID string }
	if err := json.Unmarshal([]byte(k.ask(alice, "POST", "/v1/backups", `{"app":"files"}`).has(201).body), &b); err != nil {
		t.Fatal(err)
	}
	k.ask(alice, "DELETE", "/files?path=a.txt", "").has(204)
	k.ask(bob, "POST", "/v1/backups/"+b.ID+"/restore", `{"app":"files"}`).has(404)
	for _, method := range []string{"GET", "DELETE"} {
		want := k.ask(bob, method, "/v1/backups/"+never, "").has(404)
		k.ask(bob, method, "/v1/backups/"+b.ID, "").is(404, want.body)
	}
	k.ask(bob, "GET", "/v1/backups", "").has(200, `"backups":[]`)
	k.ask(alice, "POST", "/v1/backups/"+b.ID+"/restore", `{"app":"files"}`).has(200)
	k.ask(alice, "GET", "/files?path=a.txt", "").is(200, "kept")

	noise := make([]byte, 700) // of which one backup fits, and two do not
	_, _ = rand.Read(noise)    // which never fails
	k.ask(full, "PUT", "/files?path=noise", string(noise)).has(200)
	k.ask(full, "POST", "/v1/backups", `{"app":"files"}`).has(201)
	k.ask(full, "POST", "/v1/backups", `{"app":"files"}`).has(507, "Your backups and what your test runs left may fill 1.0 KiB")
}
