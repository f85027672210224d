package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sandgate/internal/sandboxtest"
)

// A fault breaks the one sandbox of a gateway from outside.
type fault struct {
	name    string
	runtime string
	within  time.Duration // it must be told
	strike  func(t *testing.T, dir string)
}

var faults = []fault{
	{"gVisor's kernel is killed", "runsc", 5 * time.Second, killNamed("runsc-sandbox")},
	{"gVisor's file server is killed", "runsc", 5 * time.Second, killNamed("runsc-gofer")},
	{"sandboxd is killed under gVisor", "runsc", 5 * time.Second, killFirstInside},
	{"sandboxd is killed under runc", "runc", 5 * time.Second, killFirstOutside},
	// Whoever does not answer is given three times five seconds.
	{"gVisor stands still", "runsc", 40 * time.Second, stopAll},
}

// Whatever breaks a sandbox, whoever watches is told soon, once, and never that
// all went well; the next request finds a sandbox with the same files.
func TestFault_isToldAndTheNextRequestServed(t *testing.T) {
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			g := start(t, "--runtime", sandboxtest.Bin(f.runtime))
			notebook(t, g, "n", "open('kept', 'w').write('kept')")
			v := watch(t, http.MethodPost, g.URL+"/notebook?notebook=n&timeout=5m", "import time\nprint('begun')\ntime.sleep(600)")
			for v.next().Type != "stdout" {
			}
			f.strike(t, g.Dir)
			if end := v.endWithin(f.within); end.Type != "error" || end.Code != "unavailable" {
				t.Errorf("the stream ended with %+v", end)
			}
			got := notebook(t, g, "n", "open('kept').read()")
			if !slices.Equal(got.Values, []string{"'kept'"}) || got.Start != "restarted" {
				t.Errorf("the next cell: %+v", got)
			}
		})
	}
}

// endWithin reads to the terminal event.
func (v *viewer) endWithin(patience time.Duration) event {
	v.t.Helper()
	late := time.After(patience)
	for {
		select {
		case e, more := <-v.events:
			if !more {
				v.t.Fatal("the stream ended without a terminal event")
			}
			if e.Type == "complete" || e.Type == "error" {
				return e
			}
		case <-late:
			v.t.Fatalf("nothing was told within %v", patience)
		}
	}
}

// killNamed kills those of the sandbox's processes that bear a name.
func killNamed(name string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		killed := 0
		for _, pid := range sandboxProcesses(t, dir) {
			cmdline, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
			if err == nil && bytes.HasPrefix(cmdline, []byte(name)) && syscall.Kill(pid, syscall.SIGKILL) == nil {
				killed++
			}
		}
		if killed == 0 {
			t.Fatalf("there is no %s to kill", name)
		}
	}
}

// theSandbox gives the id of the only sandbox that runs.
func theSandbox(t *testing.T, dir string) string {
	t.Helper()
	bundles, err := filepath.Glob(filepath.Join(dir, "sandboxes", "*", "bundle", "pid"))
	if err != nil || len(bundles) != 1 {
		t.Fatalf("sandboxes that run: %v, %v", bundles, err)
	}
	return filepath.Base(filepath.Dir(filepath.Dir(bundles[0])))
}

// killFirstInside kills the first process that the sandbox itself knows.
func killFirstInside(t *testing.T, dir string) {
	t.Helper()
	kill := exec.CommandContext(t.Context(), sandboxtest.Bin("runsc"), "--root", filepath.Join(dir, "run", "runsc"), "kill", theSandbox(t, dir), "KILL")
	if out, err := kill.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// killFirstOutside kills the process that the runtime started.
func killFirstOutside(t *testing.T, dir string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "sandboxes", theSandbox(t, dir), "bundle", "pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// stopAll freezes the sandbox, which lives and answers nobody.
func stopAll(t *testing.T, dir string) {
	t.Helper()
	for _, pid := range sandboxProcesses(t, dir) {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
	}
}

// A state directory without room refuses what needs some, in words; what runs
// goes on, nothing is lost, and all is well once there is room. A gateway that
// starts in it says so, or serves. Not parallel, as TestDisk_theHostsOwnIsFull.
func TestFault_aFullStateDirectory(t *testing.T) {
	dir := smallDisk(t)
	g := startIn(t, dir)
	notebook(t, g, "n", "x = 41")
	ask(t, http.MethodPut, file(g, "kept"), "old").has(200)
	makeRoom := fill(t, dir)

	if got := notebook(t, g, "n", "x + 1"); !slices.Equal(got.Values, []string{"42"}) || got.Start != "running" {
		t.Errorf("the notebook that runs: %+v", got)
	}
	v := watch(t, http.MethodPost, g.URL+"/notebook?notebook=n", "for i in range(3): print(i)")
	if output, end := v.rest(); output != "0\n1\n2\n" || end.Status != "exited" {
		t.Errorf("a stream: %q %+v", output, end)
	}
	ask(t, http.MethodGet, file(g, "kept"), "").is(200, "old")
	ask(t, http.MethodGet, search(g, "old"), "").has(200, "kept:1:old")
	for _, refused := range []answer{
		ask(t, http.MethodPost, g.URL+"/notebook?notebook=new", "1"),
		ask(t, http.MethodPost, g.URL+"/run?fresh=true", "1"),
		ask(t, http.MethodPut, file(g, "kept"), "new"),
	} {
		refused.has(http.StatusInsufficientStorage, "isk")
	}
	ask(t, http.MethodDelete, g.URL+"/notebook?notebook=n", "").has(http.StatusNoContent)
	ask(t, http.MethodGet, g.Admin+"/readyz", "").has(200)

	makeRoom()
	ask(t, http.MethodPost, g.URL+"/notebook?notebook=new", "1").has(200)
	ask(t, http.MethodPut, file(g, "kept"), "new").has(200)
	makeRoom = fill(t, dir)
	stop(t, g)
	next, err := startRaw(dir)
	makeRoom()
	if err != nil {
		if !strings.Contains(err.Error(), "no space left") && !strings.Contains(err.Error(), "full") {
			t.Errorf("a start on a full disk: %v", err)
		}
		next = startIn(t, dir)
	} else {
		t.Cleanup(func() { stop(t, next) })
	}
	ask(t, http.MethodGet, file(next, "kept"), "").is(200, "new")
	if got := notebook(t, next, "new", "1"); got.Generation != 2 {
		t.Errorf("what the database knew: %+v", got)
	}
}

// fill takes all that is left of a disk, and gives what gives it back. What was
// stored before reaches the disk first: later it would be lost, as is told.
func fill(t *testing.T, dir string) (makeRoom func()) {
	t.Helper()
	unix.Sync()
	path := filepath.Join(dir, "filler")
	if err := os.WriteFile(path, make([]byte, 256<<20), 0o600); !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	return func() {
		t.Helper()
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// A notebook that is removed while a cell runs says so to the cell.
func TestFault_aNotebookIsRemovedWhileItRuns(t *testing.T) {
	g := shared(t)
	for query, want := range map[string]func(event) bool{
		"&files=true": func(e event) bool { return e.Type == "error" && e.Code == "conflict" },
		"":            func(e event) bool { return e.Type == "complete" && e.Status == "canceled" },
	} {
		name := fmt.Sprint("removed", len(query))
		v := watch(t, http.MethodPost, g.URL+"/notebook?notebook="+name, "import time\nprint('begun')\ntime.sleep(600)")
		for v.next().Type != "stdout" {
		}
		ask(t, http.MethodDelete, g.URL+"/notebook?notebook="+name+query, "").has(http.StatusNoContent)
		if end := v.endWithin(10 * time.Second); !want(end) {
			t.Errorf("after %q: %+v", query, end)
		}
	}
}
