package e2e

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestNotebook_twoFirstCellsShareOneContext(t *testing.T) {
	g := shared(t)
	var wg sync.WaitGroup
	for _, code := range []string{"a = 1", "b = 2"} {
		wg.Go(func() { notebook(t, g, "race", code) })
	}
	wg.Wait()
	if got := notebook(t, g, "race", "a + b"); !slices.Equal(got.Values, []string{"3"}) || got.Generation != 1 {
		t.Errorf("%+v", got)
	}
}

func TestNotebook_aClientThatLeavesInterruptsItsCell(t *testing.T) {
	g := shared(t)
	notebook(t, g, "leaving", "x = 1")
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan struct{})
	go func() {
		defer close(left)
		req, _ := http.NewRequestWithContext(ctx, http.MethodPost, g.URL+"/notebook?notebook=leaving",
			strings.NewReader("open('begun','w').close()\nwhile True: pass"))
		if resp, err := http.DefaultTransport.RoundTrip(req); err == nil {
			resp.Body.Close()
		}
	}()
	busy := func() bool {
		return strings.Contains(ask(t, http.MethodGet, g.URL+"/notebook?notebook=leaving", "").body, `"busy"`)
	}
	eventually(t, "the cell runs", busy)
	leave()
	<-left
	began := time.Now()
	got := notebook(t, g, "leaving", "x")
	if !slices.Equal(got.Values, []string{"1"}) || got.Start != "running" {
		t.Errorf("after the client left: %+v", got)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the next cell waited %s", took)
	}
}

func TestNotebook_interruptAndRestart(t *testing.T) {
	g := shared(t)
	notebook(t, g, "steered", "x = 1")
	interrupt := g.URL + "/notebook/interrupt?notebook=steered"
	ask(t, http.MethodPost, interrupt, "").has(http.StatusConflict)
	ended := make(chan cell, 1)
	go func() { ended <- notebook(t, g, "steered", "import time\ntime.sleep(600)") }()
	eventually(t, "the interrupt arrives", func() bool {
		return ask(t, http.MethodPost, interrupt, "").status == http.StatusNoContent
	})
	if got := <-ended; got.Status != "canceled" {
		t.Errorf("the interrupted cell: %+v", got)
	}
	if got := notebook(t, g, "steered", "x"); !slices.Equal(got.Values, []string{"1"}) {
		t.Errorf("after the interrupt: %+v", got)
	}
	ask(t, http.MethodDelete, g.URL+"/notebook?notebook=steered", "").has(http.StatusNoContent)
	if got := notebook(t, g, "steered", "'x' in globals()"); !slices.Equal(got.Values, []string{"False"}) || got.Start != "restarted" || got.Generation != 2 {
		t.Errorf("after the restart: %+v", got)
	}
}

func TestSleep_underRuncEndsTheIdleAndKeepsTheirFiles(t *testing.T) {
	t.Parallel()
	g := start(t, "--sleep-after", "1s", "--runtime", "runc")
	ask(t, http.MethodPut, file(g, "kept.txt"), "kept").has(200)
	notebook(t, g, "n", "open('own.txt','w').write('own')")
	eventually(t, "both sandboxes ended", func() bool {
		all := sandboxes(t, g)
		return all["n"].State == "stopped" && all["files"].State == "stopped"
	})
	ask(t, http.MethodGet, file(g, "kept.txt"), "").is(200, "kept")
	got := notebook(t, g, "n", "open('own.txt').read()")
	if !slices.Equal(got.Values, []string{"'own'"}) || got.Start != "restarted" || got.Generation != 2 {
		t.Errorf("%+v", got)
	}
}

func TestStop_withRequestsOpenLeavesNothing(t *testing.T) {
	t.Parallel()
	g := start(t, "--shutdown-grace", "1s")
	notebook(t, g, "n", "x = 1")
	var wg sync.WaitGroup
	for _, name := range []string{"n", "other"} {
		wg.Go(func() {
			req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, g.URL+"/notebook?notebook="+name, strings.NewReader("import time; time.sleep(600)"))
			if resp, err := http.DefaultTransport.RoundTrip(req); err == nil {
				resp.Body.Close()
			}
		})
	}
	eventually(t, "both sandboxes run", func() bool { return len(sandboxProcesses(t, g.Dir)) > 0 })
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := g.Stop(ctx); err != nil {
		t.Error(err)
	}
	wg.Wait()
	nothingLeft(t, g.Dir)
}

func TestKill_theNextStartTakesOverWhatLives(t *testing.T) {
	t.Parallel()
	dir := stateDir(t)
	g := startIn(t, dir)
	ask(t, http.MethodPut, file(g, "acknowledged"), "yes").has(200)
	notebook(t, g, "n", "x = 41")
	g.Kill()
	if len(sandboxProcesses(t, dir)) == 0 {
		t.Fatal("no sandbox outlived the gateway: nothing is tested")
	}
	g = startIn(t, dir)
	if got := notebook(t, g, "n", "x + 1"); !slices.Equal(got.Values, []string{"42"}) || got.Start != "running" || got.Generation != 1 {
		t.Errorf("after the kill: %+v", got)
	}
	ask(t, http.MethodGet, file(g, "acknowledged"), "").is(200, "yes")
}

func TestKill_theNextStartClearsWhatDied(t *testing.T) {
	t.Parallel()
	dir := stateDir(t)
	g := startIn(t, dir)
	notebook(t, g, "n", "open('own.txt','w').write('own')")
	g.Kill()
	killSandboxes(t, dir)
	g = startIn(t, dir)
	if got := notebook(t, g, "n", "open('own.txt').read()"); !slices.Equal(got.Values, []string{"'own'"}) || got.Start != "restarted" {
		t.Errorf("%+v", got)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := g.Stop(ctx); err != nil {
		t.Error(err)
	}
	nothingLeft(t, dir)
}

func TestDeath_ofTheSandboxIsToldAndTheNextRequestServed(t *testing.T) {
	g := start(t)
	notebook(t, g, "n", "open('own.txt','w').write('own')")
	ended := make(chan answer, 1)
	go func() { ended <- ask(t, http.MethodPost, g.URL+"/notebook?notebook=n", "import time; time.sleep(600)") }()
	eventually(t, "the cell runs", func() bool {
		return strings.Contains(ask(t, http.MethodGet, g.URL+"/notebook?notebook=n", "").body, `"busy"`)
	})
	began := time.Now()
	killSandboxes(t, g.Dir)
	got := <-ended
	got.has(http.StatusServiceUnavailable)
	if got.header.Get("Retry-After") == "" || time.Since(began) > 5*time.Second {
		t.Errorf("told after %s, Retry-After %q", time.Since(began), got.header.Get("Retry-After"))
	}
	if got := notebook(t, g, "n", "open('own.txt').read()"); !slices.Equal(got.Values, []string{"'own'"}) {
		t.Errorf("%+v", got)
	}
}

func TestSecondGateway_onTheSameStateIsRefused(t *testing.T) {
	g := shared(t)
	second, err := startRaw(g.Dir)
	if err == nil {
		second.Kill()
		t.Fatal("two gateways share a state directory")
	}
	if !strings.Contains(err.Error(), g.Dir) {
		t.Errorf("the refusal does not name the directory: %v", err)
	}
}

// nothingLeft checks that no process, mount, cgroup or socket of a gateway is
// left; its workspaces are.
func nothingLeft(t *testing.T, dir string) {
	t.Helper()
	if p := sandboxProcesses(t, dir); len(p) != 0 {
		t.Errorf("processes are left: %v", p)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(mounts), dir) {
		t.Error("mounts are left")
	}
	loops, _ := filepath.Glob("/sys/block/loop*/loop/backing_file")
	for _, loop := range loops {
		if path, err := os.ReadFile(loop); err == nil && strings.Contains(string(path), dir) {
			t.Errorf("%s is left of %s", loop, path)
		}
	}
	boxes, err := os.ReadDir(filepath.Join(dir, "sandboxes"))
	if err != nil {
		t.Fatal(err)
	}
	for _, box := range boxes {
		for _, pattern := range []string{"/sys/fs/cgroup/*/*", "/sys/fs/cgroup/*"} {
			if left, _ := filepath.Glob(pattern + box.Name() + "*"); len(left) != 0 {
				t.Errorf("cgroups are left: %v", left)
			}
		}
		if _, err := os.Stat(filepath.Join(dir, "sandboxes", box.Name(), "bundle")); err == nil {
			t.Errorf("the bundle of %s is left", box.Name())
		}
	}
}
