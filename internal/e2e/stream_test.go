package e2e

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"sandgate/internal/sandboxtest"
)

// event is what a viewer reads.
type event struct {
	ID       string
	Type     string
	Data     string
	Status   string
	ExitCode *int
	Code     string
	Start    string
}

// viewer reads one stream of events.
type viewer struct {
	t *testing.T
	stream[event]
}

// watch opens a stream; a POST starts an execution, a GET follows one.
func watch(t *testing.T, method, target, body string, header ...string) *viewer {
	t.Helper()
	numbered := func(e *event, id string) { e.ID = id }
	return &viewer{t, openStream(t, 2*time.Minute, numbered, method, target, body, header...)}
}

// next gives the next event.
func (v *viewer) next() event {
	v.t.Helper()
	select {
	case e, ok := <-v.events:
		if !ok {
			v.t.Fatal("the stream ended without a terminal event")
		}
		return e
	case <-time.After(30 * time.Second):
		v.t.Fatal("no event")
	}
	panic("unreachable")
}

// rest reads to the end: all output, and the terminal event, which must be the
// last and only one.
func (v *viewer) rest() (output string, end event) {
	v.t.Helper()
	for end.Type == "" {
		switch e := v.next(); e.Type {
		case "stdout", "stderr":
			output += e.Data
		case "complete", "error":
			end = e
		}
	}
	if e, more := <-v.events; more {
		v.t.Errorf("after the terminal event: %+v", e)
	}
	return output, end
}

const slowCount = "import time\nfor i in range(5): print(i); time.sleep(0.3)"

func TestStream_isLiveAndEndsOnce(t *testing.T) {
	g := shared(t)
	run(t, g, "1")
	v := watch(t, http.MethodPost, g.URL+"/run", `import os, time
print(0)
while not os.path.exists('/tmp/go-on'): time.sleep(0.05)
os.remove('/tmp/go-on')
for i in range(1, 5): print(i)`)
	if e := v.next(); e.Type != "start" || e.ID != "1" || e.Start != "running" {
		t.Errorf("first %+v", e)
	}
	if e := v.next(); e.Type != "stdout" || e.Data != "0\n" {
		t.Errorf("second %+v", e)
	}
	ask(t, http.MethodPost, g.URL+"/run?language=bash", "touch /tmp/go-on").has(200) // nothing more is printed before
	output, end := v.rest()
	if output != "1\n2\n3\n4\n" || end.Status != "exited" || end.ExitCode == nil || *end.ExitCode != 0 {
		t.Errorf("%q %+v", output, end)
	}
}

// Wherever a viewer comes back, it reads on without a loss or a duplicate,
// during the execution and after it.
func TestStream_resumesAtAnyNumber(t *testing.T) {
	g := shared(t)
	v := watch(t, http.MethodPost, g.URL+"/run", slowCount)
	path := g.URL + v.location
	for v.next().ID != "3" {
	}
	var wg sync.WaitGroup
	for _, after := range []string{"0", "1", "3"} {
		live := watch(t, http.MethodGet, path+"/events?after="+after, "")
		wg.Go(func() { checkSuffix(t, live, after) })
	}
	v.rest()
	wg.Wait()
	for _, after := range []string{"0", "1", "2", "3", "4", "5", "6"} {
		checkSuffix(t, watch(t, http.MethodGet, path+"/events", "", "Last-Event-ID", after), after)
	}
	ask(t, http.MethodGet, path+"/events?after=99", "").has(http.StatusBadRequest)
	ask(t, http.MethodGet, path, "").has(200, `"state":"ended"`, `"status":"exited"`, `"exitCode":0`)
	ask(t, http.MethodGet, g.URL+"/executions/00000000-0000-0000-0000-000000000000", "").has(404)
}

// checkSuffix reads a stream that began after a number: event n+2 printed n.
func checkSuffix(t *testing.T, v *viewer, after string) {
	want := map[string]string{
		"0": "0\n1\n2\n3\n4\n", "1": "0\n1\n2\n3\n4\n", "2": "1\n2\n3\n4\n", "3": "2\n3\n4\n",
		"4": "3\n4\n", "5": "4\n", "6": "",
	}[after]
	if output, end := v.rest(); output != want || end.Type != "complete" {
		t.Errorf("after %s: %q %+v, want %q", after, output, end, want)
	}
}

func TestStream_leavingCancelsOrNotAsAsked(t *testing.T) {
	g := shared(t)
	for policy, status := range map[string]string{"cancel": "canceled", "continue": "exited"} {
		v := watch(t, http.MethodPost, g.URL+"/notebook?onDisconnect="+policy, "import time\nprint('begun')\nfor i in range(20): time.sleep(0.1)")
		for v.next().Type != "stdout" {
		}
		v.leave()
		again := watch(t, http.MethodGet, g.URL+v.location+"/events", "")
		if output, end := again.rest(); end.Status != status || output != "begun\n" {
			t.Errorf("%s: %q %+v", policy, output, end)
		}
	}
	ask(t, http.MethodPost, g.URL+"/run?onDisconnect=perhaps", "1").has(http.StatusBadRequest)
}

func TestExecution_isCanceledOnRequest(t *testing.T) {
	g := shared(t)
	v := watch(t, http.MethodPost, g.URL+"/run", "import time\nprint('begun')\ntime.sleep(600)")
	for v.next().Type != "stdout" {
	}
	ask(t, http.MethodGet, g.URL+v.location, "").has(200, `"state":"running"`)
	ask(t, http.MethodDelete, g.URL+v.location, "").has(204)
	if _, end := v.rest(); end.Status != "canceled" {
		t.Errorf("%+v", end)
	}
	ask(t, http.MethodDelete, g.URL+v.location, "").has(204)
}

// The execution outlives the gateway; whoever watched comes back to the next one.
func TestStream_outlivesAKilledGateway(t *testing.T) {
	t.Parallel()
	dir := stateDir(t)
	g := startIn(t, dir)
	v := watch(t, http.MethodPost, g.URL+"/run", "import time\nfor i in range(8): print(i); time.sleep(0.5)")
	var last event
	for last.Data != "1\n" {
		last = v.next()
	}
	g.Kill()
	g = startIn(t, dir)
	again := watch(t, http.MethodGet, g.URL+v.location+"/events", "", "Last-Event-ID", last.ID)
	if output, end := again.rest(); output != "2\n3\n4\n5\n6\n7\n" || end.Status != "exited" {
		t.Errorf("%q %+v", output, end)
	}
}

func TestStream_ofADyingSandboxEndsWithAnError(t *testing.T) {
	g := start(t)
	v := watch(t, http.MethodPost, g.URL+"/run", "import time\nprint('begun')\ntime.sleep(600)")
	for v.next().Type != "stdout" {
	}
	killSandboxes(t, g.Dir)
	began := time.Now()
	if _, end := v.rest(); end.Type != "error" || end.Code != "unavailable" || time.Since(began) > 5*time.Second {
		t.Errorf("after %s: %+v", time.Since(began), end)
	}
}

func TestStop_tellsThoseWhoWatch(t *testing.T) {
	t.Parallel()
	g := start(t, "--shutdown-grace", "100ms")
	v := watch(t, http.MethodPost, g.URL+"/run", "import time\nprint('begun')\ntime.sleep(600)")
	for v.next().Type != "stdout" {
	}
	stopped := make(chan error, 1)
	go func() { stopped <- stopNow(t, g) }()
	if _, end := v.rest(); end.Type != "error" && end.Status != "canceled" {
		t.Errorf("%+v", end)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

func stopNow(t *testing.T, g *sandboxtest.Gateway) error {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	return g.Stop(ctx)
}

func TestFresh_leavesNothing(t *testing.T) {
	t.Parallel()
	g := start(t)
	got := ask(t, http.MethodPost, g.URL+"/run?fresh=true", "open('x','w').close(); import os; print(sorted(os.listdir()))").cell()
	if len(got.Output) != 1 || got.Output[0] != "['x']\n" || got.Start != "fresh" {
		t.Errorf("%+v", got)
	}
	eventually(t, "nothing is left", func() bool {
		entries := listDir(t, g.Dir+"/sandboxes")
		return len(entries) == 0 && len(sandboxProcesses(t, g.Dir)) == 0
	})
	v := watch(t, http.MethodPost, g.URL+"/run?fresh=true", "import time\nprint('begun')\ntime.sleep(600)")
	for v.next().Type != "stdout" {
	}
	v.leave()
	eventually(t, "nothing is left of one whose visitor left", func() bool {
		return len(listDir(t, g.Dir+"/sandboxes")) == 0 && len(sandboxProcesses(t, g.Dir)) == 0
	})
}
