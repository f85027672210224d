package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"sandgate/internal/sandboxd/awake"
	"sandgate/internal/sandboxd/shim"
	"sandgate/sandboxclient/wire"
)

// startPreloading starts a kernel on the program, which does with the request to
// preload what it is told.
func startPreloading(t *testing.T, p *program, spec Spec, handle func(request string)) (*Kernel, error) {
	t.Helper()
	starter := starterFunc(func(ctx context.Context, cmd shim.Command) (shim.Tree, error) {
		tree, err := p.Start(ctx, cmd)
		go func() { // ends with the request, or with the pipe
			p.reply(`{"id":0,"pid":%d,"type":"ready","engine":"played"}`, programPid)
			if p.requests.Scan() {
				handle(p.requests.Text())
			}
		}()
		return tree, err
	})
	spec.Dir = "/"
	k, err := startIn(t.Context(), t.TempDir(), starter, new(awake.Clock), spec)
	if err == nil {
		t.Cleanup(k.Close)
	}
	return k, err
}

func TestStart_preloads(t *testing.T) {
	p := newProgram(t)
	spec := Spec{Language: wire.Python, Ahead: true, Preload: []string{"numpy", "broken"}}
	k, err := startPreloading(t, p, spec, func(request string) {
		var got struct {
			ID      int
			Preload []string
		}
		if json.Unmarshal([]byte(request), &got) != nil || got.ID != 0 || fmt.Sprint(got.Preload) != "[numpy broken]" {
			t.Errorf("asked for %s", request)
		}
		_, _ = io.WriteString(p.stdout, "numpy says hello\n")
		long := strings.Repeat("x", 2*maxPreloadMessage)
		p.reply(`{"id":0,"pid":%d,"type":"preloaded","failed":[{"module":"broken","message":"%s"},{},{},{}]}`, programPid, long)
	})
	if err != nil {
		t.Fatal(err)
	}
	failed := k.Failed()
	if len(failed) != 2 || failed[0].Module != "broken" || len(failed[0].Message) != maxPreloadMessage {
		t.Errorf("%d failed: %+v", len(failed), failed)
	}
	go p.answer(1)
	exit, events := runCell(t.Context(), t, k)
	if exit.ExecutionCount != 1 || len(events) != 0 {
		t.Errorf("the first cell: %+v, %+v", exit, events)
	}
}

func TestStart_preloadingFails(t *testing.T) {
	refuses := starterFunc(func(context.Context, shim.Command) (shim.Tree, error) {
		t.Error("started")
		return nil, io.EOF
	})
	_, err := startIn(t.Context(), t.TempDir(), refuses, new(awake.Clock), Spec{Language: wire.Bash, Preload: []string{"numpy"}})
	if e, ok := errors.AsType[*wire.Error](err); !ok || e.Code != wire.CodeUnsupported {
		t.Errorf("a language without modules: %v", err)
	}
	p := newProgram(t)
	_, err = startPreloading(t, p, Spec{Language: wire.Python, Ahead: true, Preload: []string{"deadly"}}, func(string) {
		_, _ = io.WriteString(p.stderr, "a module has crashed\n")
		p.end(exited(1))
	})
	if err == nil || !strings.Contains(err.Error(), "a module has crashed") {
		t.Errorf("a module that ends the process: %v", err)
	}
	await(t, p.Done())
}

func TestRequest_renewal(t *testing.T) {
	python, err := lookup(wire.Python)
	if err != nil {
		t.Fatal(err)
	}
	changed := Cell{Code: "x", Env: map[string]*string{"A": new("1"), "B": nil}}
	for _, tt := range []struct {
		cell  Cell
		renew bool
		want  string
	}{
		{changed, false, `{"id":1,"code":"x"}`},
		{changed, true, `{"id":1,"code":"x","renew":{"env":{"A":"1","B":null}}}`},
		{Cell{Code: "x"}, true, `{"id":1,"code":"x","renew":{"env":null}}`},
	} {
		if got, err := python.request(1, tt.cell, tt.renew); err != nil || string(got) != tt.want+"\n" {
			t.Errorf("got %s, %v, want %s", got, err, tt.want)
		}
	}
}

// A cell that is ended before it begins must not take the renewal with it.
func TestRun_renewsInTheFirstCellThatRuns(t *testing.T) {
	p := newProgram(t)
	spec := Spec{Language: wire.Python, Ahead: true, Preload: []string{"json"}}
	k, err := startPreloading(t, p, spec, func(string) { p.reply(`{"id":0,"pid":%d,"type":"preloaded"}`, programPid) })
	if err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	runCell(ended, t, k)
	requests := make(chan string, 2)
	go func() {
		for id := 1; id <= 2 && p.requests.Scan(); id++ {
			requests <- p.requests.Text()
			p.reply(`{"id":%d,"pid":%d,"type":"done"}`, id, programPid)
		}
	}()
	for i, want := range []bool{true, false} {
		runCell(t.Context(), t, k)
		if request := <-requests; strings.Contains(request, "renew") != want {
			t.Errorf("cell %d is asked for by %s", i+1, request)
		}
	}
}
