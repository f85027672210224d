package e2e

import (
	"net/http"
	"slices"
	"strings"
	"testing"
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

// Disposable files count as memory. While they hold it no interpreter starts,
// which is told, and a shell is small enough to remove them.
func TestMemory_heldByDisposableFiles(t *testing.T) {
	t.Parallel()
	g := start(t, "--memory", "256MiB", "--tmp-size", "256MiB")
	fill := "left=$(awk '/MemAvailable/ {print $2}' /proc/meminfo); head -c $(((left - 36 * 1024) * 1024)) /dev/zero > /tmp/hog"
	ask(t, http.MethodPost, g.URL+"/run?language=bash", fill).has(200)
	ask(t, http.MethodPost, g.URL+"/run", "1").has(http.StatusServiceUnavailable, "out of memory: the sandbox has 256 MiB in all")
	// What was freed is there a little later: that of the interpreter that did not
	// start, too, so that the shell may be taken for what there is too much of.
	eventually(t, "a shell makes room", func() bool {
		return strings.Contains(ask(t, http.MethodPost, g.URL+"/run?language=bash", "rm -f /tmp/hog; echo removed").body, `"removed\n"`)
	})
	eventually(t, "a cell runs after making room", func() bool {
		return ask(t, http.MethodPost, g.URL+"/run", "print(1)").status == http.StatusOK
	})
	if got := run(t, g, "print(1)"); !slices.Equal(got.Output, []string{"1\n"}) {
		t.Errorf("after making room: %+v", got)
	}
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
