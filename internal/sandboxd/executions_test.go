package sandboxd

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"sandgate/sandboxclient/wire"
)

func TestHealth(t *testing.T) {
	d := start(t)
	var h wire.Health
	d.decode(d.do("GET", "/v1/health", nil), &h)
	if h.Version != wire.Version || h.StartedAt.IsZero() || h.Busy != 0 {
		t.Errorf("got %+v", h)
	}
}

func TestUnknown(t *testing.T) {
	d := start(t)
	d.wantError(d.do("GET", "/nothing", nil), http.StatusNotFound, wire.CodeNotFound)
}

func TestExec_streamsToTheEnd(t *testing.T) {
	d := start(t)
	a := d.post("/v1/exec", wire.ExecRequest{ID: "one", Argv: []string{"sh", "-c", "echo hello; exit 3"}, Dir: d.inside})
	events := d.events(a, 0)
	last := events[len(events)-1]
	if output(events) != "hello\n" || last.Exit == nil || last.Exit.ExitCode != 3 {
		t.Errorf("got %s", a.body)
	}
	var info wire.ExecutionInfo
	d.decode(d.do("GET", "/v1/executions/one", nil), &info)
	if info.Kind != "exec" || info.FirstSeq != 1 || info.LastSeq != last.Seq || info.Exit == nil || info.Exit.ExitCode != 3 {
		t.Errorf("then it is %+v", info)
	}
	for after := range last.Seq {
		again := d.events(d.do("GET", fmt.Sprintf("/v1/executions/one/events?after=%d", after), nil), after)
		if int64(len(again)) != last.Seq-after {
			t.Errorf("%d events after %d", len(again), after)
		}
	}
	if a := d.do("GET", fmt.Sprintf("/v1/executions/one/events?after=%d", last.Seq), nil); a.status != http.StatusNoContent || a.body != "" {
		t.Errorf("after the end: %d %q", a.status, a.body)
	}
	for _, after := range []string{"-1", "x", fmt.Sprint(last.Seq + 1)} {
		d.wantError(d.do("GET", "/v1/executions/one/events?after="+after, nil), http.StatusBadRequest, wire.CodeInvalid)
	}
}

func TestExec_refusals(t *testing.T) {
	d := start(t)
	d.wantError(d.do("POST", "/v1/exec", strings.NewReader("{")), http.StatusBadRequest, wire.CodeInvalid)
	d.wantError(d.do("POST", "/v1/exec", strings.NewReader(`{} {}`)), http.StatusBadRequest, wire.CodeInvalid)
	d.wantError(d.do("POST", "/v1/exec", strings.NewReader(`"`+strings.Repeat("x", maxRequest)+`"`)), http.StatusRequestEntityTooLarge, wire.CodeTooLarge)
	d.wantError(d.post("/v1/exec", wire.ExecRequest{Argv: []string{"true"}, Dir: "/"}), http.StatusBadRequest, wire.CodeInvalid)
	d.wantError(d.post("/v1/exec", wire.ExecRequest{ID: "x", Argv: []string{"no-such-program"}, Dir: "/"}), http.StatusBadRequest, wire.CodeInvalid)
	d.wantError(d.do("GET", "/v1/executions/x", nil), http.StatusNotFound, wire.CodeNotFound) // it never began
	d.events(d.post("/v1/exec", wire.ExecRequest{ID: "x", Argv: []string{"true"}, Dir: "/"}), 0)
	d.wantError(d.post("/v1/exec", wire.ExecRequest{ID: "x", Argv: []string{"true"}, Dir: "/"}), http.StatusConflict, wire.CodeConflict)
	d.wantError(d.do("GET", "/v1/executions/nothing/events", nil), http.StatusNotFound, wire.CodeNotFound)
	d.wantError(d.do("DELETE", "/v1/executions/nothing", nil), http.StatusNotFound, wire.CodeNotFound)
	if n := d.executions.Busy(); n != 0 {
		t.Errorf("%d are busy", n)
	}
}

// A visit is a request whose stream is left before its end.
func (d *daemon) visit(path string, v any) (firstLine string, leave func()) {
	d.Helper()
	body, err := json.Marshal(v)
	if err != nil {
		d.Fatal(err)
	}
	ctx, cancel := context.WithCancel(d.Context())
	r, err := http.NewRequestWithContext(ctx, "POST", d.url+path, strings.NewReader(string(body)))
	if err != nil {
		d.Fatal(err)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		d.Fatal(err)
	}
	line, err := bufio.NewReader(res.Body).ReadString('\n')
	if err != nil {
		d.Fatal(err)
	}
	return line, func() { cancel(); res.Body.Close() }
}

func (d *daemon) awaitEnd(id string) wire.Exit {
	d.Helper()
	events := d.events(d.do("GET", "/v1/executions/"+id+"/events", nil), 0)
	last := events[len(events)-1]
	if last.Exit == nil {
		d.Fatalf("%s ended with %+v", id, last)
	}
	return *last.Exit
}

func TestExec_goesOnWhenItsCallerLeaves(t *testing.T) {
	d := start(t)
	_, leave := d.visit("/v1/exec", wire.ExecRequest{ID: "alone", Argv: []string{"sh", "-c", "sleep 0.5; echo went on; exit 7"}, Dir: "/"})
	leave()
	if exit := d.awaitEnd("alone"); exit.Status != wire.StatusExited || exit.ExitCode != 7 {
		t.Errorf("ended as %+v", exit)
	}
}

func TestExec_canBeCanceled(t *testing.T) {
	d := start(t)
	_, leave := d.visit("/v1/exec", wire.ExecRequest{ID: "x", Argv: []string{"sleep", "1000"}, Dir: "/"})
	defer leave()
	var h wire.Health
	d.decode(d.do("GET", "/v1/health", nil), &h)
	if h.Busy != 1 {
		t.Errorf("%d are busy", h.Busy)
	}
	if a := d.do("DELETE", "/v1/executions/x", nil); a.status != http.StatusNoContent {
		t.Errorf("got %d %s", a.status, a.body)
	}
	if exit := d.awaitEnd("x"); exit.Status != wire.StatusCanceled {
		t.Errorf("ended as %+v", exit)
	}
	if a := d.do("DELETE", "/v1/executions/x", nil); a.status != http.StatusNoContent {
		t.Errorf("after its end: %d %s", a.status, a.body)
	}
}

func TestExec_streamsWhileItRuns(t *testing.T) {
	d := start(t)
	d.events(d.post("/v1/exec", wire.ExecRequest{ID: "warm", Argv: []string{"true"}, Dir: "/"}), 0)
	begin := time.Now()
	line, leave := d.visit("/v1/exec", wire.ExecRequest{ID: "x", Argv: []string{"sh", "-c", "echo first; sleep 1000"}, Dir: "/"})
	defer leave()
	if took := time.Since(begin); took > 20*time.Second || !strings.Contains(line, `"seq":1`) {
		t.Errorf("%s after %v", line, took)
	}
}

func TestCells(t *testing.T) {
	d := start(t)
	spec := wire.ContextSpec{ID: "a b", Language: wire.Python, Dir: "/"}
	events := d.events(d.post("/v1/run", wire.RunRequest{ID: "c1", Context: spec, Code: "hello"}), 0)
	if output(events) != "hello" || !events[0].Start.KernelStarted {
		t.Errorf("got %+v", events)
	}
	var infos []wire.ContextInfo
	d.decode(d.do("GET", "/v1/contexts", nil), &infos)
	if len(infos) != 1 || infos[0].ID != "a b" || infos[0].Engine != "echo" || infos[0].State != wire.ContextIdle {
		t.Errorf("contexts: %+v", infos)
	}
	d.wantError(d.do("POST", "/v1/contexts/a%20b/interrupt", nil), http.StatusConflict, wire.CodeConflict)

	_, leave := d.visit("/v1/run", wire.RunRequest{ID: "c2", Context: spec, Code: "wait"})
	defer leave()
	if a := d.do("POST", "/v1/contexts/a%20b/interrupt", nil); a.status != http.StatusNoContent {
		t.Errorf("interrupt: %d %s", a.status, a.body)
	}
	if exit := d.awaitEnd("c2"); exit.Status != wire.StatusCanceled {
		t.Errorf("ended as %+v", exit)
	}

	_, leave = d.visit("/v1/run", wire.RunRequest{ID: "c3", Context: spec, Code: "wait"})
	leave()
	if a := d.do("DELETE", "/v1/executions/c3", nil); a.status != http.StatusNoContent {
		t.Errorf("cancel: %d %s", a.status, a.body)
	}
	if exit := d.awaitEnd("c3"); exit.Status != wire.StatusCanceled {
		t.Errorf("left and canceled, it ended as %+v", exit)
	}

	if a := d.do("DELETE", "/v1/contexts/a%20b", nil); a.status != http.StatusNoContent {
		t.Errorf("delete: %d %s", a.status, a.body)
	}
	d.wantError(d.do("DELETE", "/v1/contexts/a%20b", nil), http.StatusNotFound, wire.CodeNotFound)
	d.wantError(d.post("/v1/run", wire.RunRequest{ID: "c4", Context: wire.ContextSpec{Language: wire.Python}}), http.StatusBadRequest, wire.CodeInvalid)
	if a := d.do("GET", "/v1/contexts", nil); strings.TrimSpace(a.body) != "[]" {
		t.Errorf("no contexts are %s", a.body)
	}
}
