package sandboxd

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sandgate/sandboxclient/wire"
)

func TestWarmContext(t *testing.T) {
	d := start(t)
	request := wire.WarmRequest{ContextSpec: wire.ContextSpec{ID: "c", Language: wire.Python, Dir: "/"}}
	var warmed wire.Warmed
	d.decode(d.post("/v1/contexts", request), &warmed)
	if warmed.Context.ID != "c" || warmed.Context.Engine != "echo" || warmed.Context.State != wire.ContextIdle {
		t.Errorf("warm, it is %+v", warmed.Context)
	}
	d.wantError(d.post("/v1/contexts", request), http.StatusConflict, wire.CodeConflict)
	d.wantError(d.do("POST", "/v1/contexts", nil), http.StatusBadRequest, wire.CodeInvalid)
	run := wire.RunRequest{ID: "x", Context: request.ContextSpec, Code: "here"}
	events := d.events(d.post("/v1/run", run), 0)
	if first := events[0]; first.Start == nil || !first.Start.KernelStarted || output(events) != "here" {
		t.Errorf("the first cell tells %+v", events)
	}
}

// What a template's clone finds in its workspace was left by others; what a
// sandbox that has lived finds there is its own, whatever its link.
func TestMoved_sweepsTheWorkspaceOfAClone(t *testing.T) {
	d := start(t)
	leave := func() string {
		t.Helper()
		name := filepath.Join(d.inside, ".sandgate-left")
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	gone := func(name string) bool {
		_, err := os.Lstat(name)
		return os.IsNotExist(err)
	}
	for name := leave(); !gone(name); {
		// One at a time, also when the first sweep came after the leaving: one that is
		// still under way would take what is left later.
		d.moved(t.Context())
		for late := time.Now().Add(time.Second); !gone(name) && time.Now().Before(late); {
			time.Sleep(time.Millisecond)
		}
	}
	d.do("GET", "/v1/files?path=.", nil)
	name := leave()
	d.moved(t.Context())
	<-time.After(50 * time.Millisecond) // a sweep would not take as long
	if gone(name) {
		t.Error("a sandbox that has lived was swept again")
	}
}

// Of a restore that cannot be ended, the former files stay where they are until it
// can: a sweep would leave neither state.
func TestMoved_sweepsNothingThatARestoreNeeds(t *testing.T) {
	d := start(t)
	former := filepath.Join(d.inside, ".sandgate-staging", "old", "file")
	if err := os.MkdirAll(filepath.Dir(former), 0o700); err != nil {
		t.Fatal(err)
	}
	journal := filepath.Join(d.inside, ".sandgate-staging", "journal")
	for name, content := range map[string]string{former: "former", journal: `{"in":true}`} { // and no new tree
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d.moved(t.Context())
	<-time.After(50 * time.Millisecond) // a sweep would not take as long
	for _, name := range []string{former, journal} {
		if _, err := os.Lstat(name); err != nil {
			t.Error(err)
		}
	}
	if !strings.Contains(d.log.String(), "could not be ended") {
		t.Error("nobody was told")
	}
}

func TestHealth_countsNothingBeforeACell(t *testing.T) {
	d := start(t)
	var health wire.Health
	d.decode(d.do("GET", "/v1/health", nil), &health)
	if health.Background != 0 || health.Version != wire.Version {
		t.Errorf("got %+v", health)
	}
}
