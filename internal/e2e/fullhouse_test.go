package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// While the house is full of work, who comes waits a bounded time and is told
// to come back; whoever watches or ends the work need not wait.
func TestFullHouse_requests(t *testing.T) {
	t.Parallel()
	g := start(t, "--max-requests=1", "--max-viewers=1", "--queue-time=300ms")
	work := watch(t, http.MethodPost, g.URL+"/run", "print('up', flush=True)\nwhile True: pass")
	for work.next().Type != "stdout" {
	}

	begin := time.Now()
	refused := ask(t, http.MethodPost, g.URL+"/notebook", "1")
	refused.has(http.StatusTooManyRequests, "try again soon")
	if took := time.Since(begin); took < 300*time.Millisecond || refused.header.Get("Retry-After") == "" {
		t.Errorf("refused after %v, Retry-After %q", took, refused.header.Get("Retry-After"))
	}
	ask(t, http.MethodGet, g.URL+"/", "").has(200, "/search")
	ask(t, http.MethodGet, g.Admin+"/readyz", "").has(200)
	ask(t, http.MethodGet, g.Admin+"/metrics", "").has(200, `sandgate_http_slots_held{kind="work"} 1`)

	second := watch(t, http.MethodGet, g.URL+work.location+"/events", "")
	for second.next().Type != "stdout" {
	}
	ask(t, http.MethodGet, g.URL+work.location+"/events", "").has(http.StatusTooManyRequests)
	ask(t, http.MethodGet, g.URL+work.location, "").has(200, `"state":"running"`)
	ask(t, http.MethodDelete, g.URL+work.location, "").has(http.StatusNoContent)
	for _, v := range []*viewer{work, second} {
		if _, end := v.rest(); end.Status != "canceled" {
			t.Errorf("ended as %+v", end)
		}
	}
	ask(t, http.MethodPost, g.URL+"/notebook", "1").has(200)
}

// Whoever waits gets the turn when there is one.
func TestFullHouse_turns(t *testing.T) {
	t.Parallel()
	g := start(t, "--max-requests=1", "--queue-time=1m")
	work := watch(t, http.MethodPost, g.URL+"/run", "print('up', flush=True)\nimport time; time.sleep(1)")
	for work.next().Type != "stdout" {
	}
	ask(t, http.MethodPost, g.URL+"/notebook", "41+1").has(200, `"values":["42"]`)
	if _, end := work.rest(); end.Status != "exited" {
		t.Errorf("ended as %+v", end)
	}
}

// One sandbox more than may run is refused in words while the others work; those
// work on. Once one is idle it sleeps to make room, and forgets nothing.
func TestFullHouse_sandboxes(t *testing.T) {
	t.Parallel()
	g := start(t, "--max-running=1", "--queue-time=300ms")
	v := watch(t, http.MethodPost, g.URL+"/notebook?notebook=a", "import os, time\nx = 41\nprint('up')\nwhile not os.path.exists('go'): time.sleep(0.05)")
	for v.next().Type != "stdout" {
	}
	refused := ask(t, http.MethodPost, g.URL+"/notebook?notebook=b", "1")
	refused.has(http.StatusTooManyRequests, "1 sandboxes run already")
	if refused.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	ask(t, http.MethodPost, g.URL+"/notebook?notebook=a&language=bash", "touch go").has(200)
	if _, end := v.rest(); end.Status != "exited" {
		t.Errorf("ended as %+v", end)
	}
	eventually(t, "the idle one sleeps, which may take longer than one waits", func() bool {
		a := ask(t, http.MethodPost, g.URL+"/notebook?notebook=b", "2")
		return a.status == http.StatusOK && strings.Contains(a.body, `"values":["2"]`)
	})
	eventually(t, "the other one wakes again", func() bool {
		a := ask(t, http.MethodPost, g.URL+"/notebook?notebook=a", "x + 1")
		return a.status == http.StatusOK && strings.Contains(a.body, `"values":["42"]`) && strings.Contains(a.body, `"woken"`)
	})
}
