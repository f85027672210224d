package e2e

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"sandgate/internal/sandboxtest"
)

// soakRuns is how many rounds of work a soak does; `make soak` asks for 3,000
// runs, an ordinary test for a few.
func soakRuns(t *testing.T) int {
	t.Helper()
	text := os.Getenv("SOAK_RUNS")
	if text == "" {
		return 40
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("SOAK_RUNS is %q", text)
	}
	return n
}

// After many runs of every kind, what the gateway and the host hold is back
// where it was.
func TestSoak_returnsToItsBaseline(t *testing.T) {
	g := start(t)
	runs := soakRuns(t)
	soak(t, g, 10) // everything that is made once is made
	before := settled(t, g)
	soak(t, g, runs)
	var after holdings
	eventually(t, "what is held is back at its baseline", func() bool {
		after = held(t, g)
		return after.within(before)
	})
	t.Logf("after %d runs: %+v; before: %+v", runs, after, before)
}

// soak does runs rounds of work from two visitors at once.
func soak(t *testing.T, g *sandboxtest.Gateway, runs int) {
	t.Helper()
	var wg sync.WaitGroup
	rounds := make(chan int)
	for range 2 {
		wg.Go(func() {
			for i := range rounds {
				soakRound(t, g, i)
			}
		})
	}
	for i := range runs {
		rounds <- i
	}
	close(rounds)
	wg.Wait()
}

func soakRound(t *testing.T, g *sandboxtest.Gateway, i int) {
	t.Helper()
	if got := run(t, g, fmt.Sprintf("print(%d)", i)); len(got.Output) != 1 || got.Output[0] != fmt.Sprintln(i) {
		t.Errorf("run %d: %+v", i, got)
	}
	path := file(g, fmt.Sprint("soak/", i))
	ask(t, http.MethodPut, path, fmt.Sprint("content ", i)).has(200)
	ask(t, http.MethodGet, path, "").is(200, fmt.Sprint("content ", i))
	ask(t, http.MethodDelete, path, "").has(204)
	v := watch(t, http.MethodPost, g.URL+"/run", "for n in range(3): print(n)")
	if output, end := v.rest(); output != "0\n1\n2\n" || end.Status != "exited" {
		t.Errorf("stream %d: %q %+v", i, output, end)
	}
	if i%10 == 0 {
		soakSandboxes(t, g, i)
	}
}

// soakSandboxes starts sandboxes and does away with them.
func soakSandboxes(t *testing.T, g *sandboxtest.Gateway, i int) {
	t.Helper()
	ask(t, http.MethodPost, g.URL+"/run?fresh=true&language=bash", "echo fresh").has(200, "fresh")
	name := fmt.Sprint("soak-", i)
	v := watch(t, http.MethodPost, g.URL+"/notebook?notebook="+name, "import time\nprint('begun')\ntime.sleep(600)")
	for v.next().Type != "stdout" {
	}
	v.leave()
	ask(t, http.MethodDelete, g.URL+"/notebook?files=true&notebook="+name, "").has(204)
}

// holdings are what a gateway and its sandboxes hold.
type holdings struct {
	goroutines, descriptors, memoryMiB float64 // of the gateway
	processes, mounts, cgroups         int     // of its sandboxes
	sandboxes                          int     // directories
}

// within allows for what comes and goes: idle connections, a heap's breath.
func (h holdings) within(before holdings) bool {
	return h.goroutines <= before.goroutines+20 && h.descriptors <= before.descriptors+20 &&
		h.memoryMiB <= before.memoryMiB+48 && h.processes <= before.processes &&
		h.mounts <= before.mounts && h.cgroups <= before.cgroups && h.sandboxes <= before.sandboxes
}

// settled gives what is held when nothing is under way any more.
func settled(t *testing.T, g *sandboxtest.Gateway) holdings {
	t.Helper()
	last := held(t, g)
	eventually(t, "the sandboxes settle", func() bool {
		time.Sleep(time.Second)
		now := held(t, g)
		same := now.processes == last.processes && now.mounts == last.mounts && now.sandboxes == last.sandboxes
		last = now
		return same
	})
	return last
}

func held(t *testing.T, g *sandboxtest.Gateway) holdings {
	t.Helper()
	metrics := gatewayMetrics(t, g)
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	h := holdings{
		goroutines:  metrics["go_goroutines"],
		descriptors: metrics["process_open_fds"],
		memoryMiB:   metrics["process_resident_memory_bytes"] / (1 << 20),
		processes:   len(sandboxProcesses(t, g.Dir)),
		mounts:      strings.Count(string(mounts), g.Dir),
	}
	for _, id := range listDir(t, filepath.Join(g.Dir, "sandboxes")) {
		h.sandboxes++
		for _, pattern := range []string{"/sys/fs/cgroup/*/*", "/sys/fs/cgroup/*"} {
			left, _ := filepath.Glob(pattern + id + "*")
			h.cgroups += len(left)
		}
	}
	return h
}

// gatewayMetrics reads the plain figures of /metrics.
func gatewayMetrics(t *testing.T, g *sandboxtest.Gateway) map[string]float64 {
	t.Helper()
	figures := make(map[string]float64)
	body := ask(t, http.MethodGet, g.Admin+"/metrics", "").has(200).body
	for lines := bufio.NewScanner(strings.NewReader(body)); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if figure, err := strconv.ParseFloat(value, 64); err == nil {
			figures[name] = figure
		}
	}
	return figures
}
