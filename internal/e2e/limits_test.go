package e2e

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"sandgate/internal/sandboxtest"
)

// Running out of memory ends the process that took it, and is told with the
// limit; the sandbox, its other contexts and its files live on.
func TestMemory_ranOutIsToldAndTheSandboxLives(t *testing.T) {
	t.Parallel()
	g := start(t, "--memory", "512MiB")
	if got := ask(t, http.MethodPost, g.URL+"/notebook?language=bash", "kept=1").cell(); got.Status != "exited" {
		t.Fatalf("%+v", got)
	}
	got := notebook(t, g, "scratch", "x = bytearray(10**11)")
	if got.Status != "oom_killed" || !strings.Contains(got.KernelDied, "512 MiB") {
		t.Errorf("%+v", got)
	}
	if got := notebook(t, g, "scratch", "1 + 1"); !slices.Equal(got.Values, []string{"2"}) || got.Start != "restarted" {
		t.Errorf("the next cell: %+v", got)
	}
	if got := ask(t, http.MethodPost, g.URL+"/notebook?language=bash", "echo $kept").cell(); !slices.Equal(got.Output, []string{"1\n"}) || got.Start != "running" {
		t.Errorf("the other context: %+v", got)
	}
	got = notebook(t, g, "scratch", "import subprocess; subprocess.run(['python3', '-c', 'x = bytearray(10**11)']).returncode")
	if !slices.Equal(got.Values, []string{"-9"}) || got.Start != "running" {
		t.Errorf("a child that ran out: %+v", got)
	}
}

// neighbourPatience catches a neighbour that hangs, on however slow a machine.
const neighbourPatience = 10 * time.Second

// A fork bomb in one sandbox leaves another's requests answered while it burns,
// and its own sandbox answers again.
func TestForkBomb_harmsNobodyElse(t *testing.T) {
	g := start(t)
	notebook(t, g, "other", "x = 1")
	bomb := watch(t, http.MethodPost, g.URL+"/run?language=bash&timeout=5", "echo lit\n:(){ echo boom >&2; :|:& };:\nwait; sleep 60")
	for bomb.next().Data != "lit\n" {
	}
	told := make(chan string)
	go func() { // ends with the stream
		defer close(told)
		output, _ := bomb.rest()
		told <- output
	}()
	rounds, output := 0, ""
	for burning := true; burning; rounds++ {
		askNeighbour(t, g)
		select {
		case output = <-told:
			burning = false
		default:
		}
	}
	if forks := strings.Count(output, "boom"); rounds < 2 || forks < 100 {
		t.Errorf("%d rounds beside %d forks: nothing is tested", rounds, forks)
	}
	if got := run(t, g, "print(1)"); !slices.Equal(got.Output, []string{"1\n"}) {
		t.Errorf("after the bomb: %+v", got)
	}
}

// askNeighbour asks two other sandboxes, each of which must answer soon.
func askNeighbour(t *testing.T, g *sandboxtest.Gateway) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), neighbourPatience)
	defer cancel()
	got := askContext(ctx, t, http.MethodPost, g.URL+"/notebook?notebook=other", strings.NewReader("x")).cell()
	if !slices.Equal(got.Values, []string{"1"}) {
		t.Errorf("beside the bomb: %+v", got)
	}
	ctx, cancel = context.WithTimeout(t.Context(), neighbourPatience)
	defer cancel()
	askContext(ctx, t, http.MethodPut, file(g, "f"), strings.NewReader("beside")).has(200)
}

func TestOutput_isCutAndToldAndAtLastEnded(t *testing.T) {
	t.Parallel()
	g := start(t, "--keep-output", "1MiB", "--max-output", "8MiB")
	got := run(t, g, "print('☕' * 1000000)")
	if !got.Truncated || got.Status != "exited" || len(got.Output[0]) > 1<<20 || strings.Contains(got.Output[0], "\uFFFD") {
		t.Errorf("truncated %v, %s, %d bytes", got.Truncated, got.Status, len(got.Output[0]))
	}
	if got := run(t, g, "while True: print('x' * 1000)"); got.Status != "output_limited" || !got.Truncated {
		t.Errorf("%s, truncated %v", got.Status, got.Truncated)
	}
	if got := run(t, g, "print(1)"); !slices.Equal(got.Output, []string{"1\n"}) {
		t.Errorf("after the flood: %+v", got)
	}
}
