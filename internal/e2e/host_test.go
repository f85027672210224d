package e2e

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sandgate/internal/sandboxtest"
)

// eventually waits for a condition that must come true.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); {
		if holds() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("never: %s", what)
}

// sandboxProcesses finds the runtime's processes of a state directory, but not
// the gateway itself.
func sandboxProcesses(t *testing.T, dir string) []int {
	t.Helper()
	entries, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []int
	for _, entry := range entries {
		cmdline, err := os.ReadFile(entry)
		if err != nil || !bytes.Contains(cmdline, []byte(dir)) || bytes.Contains(cmdline, []byte("--state-dir")) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(entry)))
		found = append(found, pid)
	}
	return found
}

// killSandboxes kills every runtime process of a state directory, as running
// out of memory would.
func killSandboxes(t *testing.T, dir string) {
	t.Helper()
	processes := sandboxProcesses(t, dir)
	if len(processes) == 0 {
		t.Fatal("no sandbox to kill")
	}
	for _, pid := range processes {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// startRaw starts a gateway that may refuse to.
func startRaw(dir string, args ...string) (*sandboxtest.Gateway, error) {
	return sandboxtest.StartGateway(dir, args...)
}

// listDir gives the names in a directory.
func listDir(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// A host may stop all there is and let it go on, as a laptop does that sleeps:
// no process in a sandbox is harmed. (gVisor's are, unless it is mended; and by
// what its own starting of threads does to them on a busy machine.)
func TestHost_stopsAndGoesOn(t *testing.T) {
	g := start(t)
	v := watch(t, http.MethodPost, g.URL+"/run", `
import mmap, threading, time
print('begun', flush=True)
until = time.time() + 3
def work():
    while time.time() < until:
        with mmap.mmap(-1, 1 << 16) as m: m[0] = 1
threads = [threading.Thread(target=work) for _ in range(3)]
for t in threads: t.start()
for t in threads: t.join()
print('done')`)
	for v.next().Type != "stdout" {
	}
	for until := time.Now().Add(2 * time.Second); time.Now().Before(until); {
		guests := guestProcesses(t, theSandbox(t, g.Dir))
		for _, sig := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
			for _, pid := range guests {
				_ = syscall.Kill(pid, sig) // it may have ended
			}
		}
	}
	if output, end := v.rest(); end.Status != "exited" || output != "done\n" {
		t.Errorf("%q %+v", output, end)
	}
	if got := run(t, g, "print(1)"); got.Status != "exited" {
		t.Errorf("afterwards: %+v", got)
	}
}

// guestProcesses are the host's processes in which gVisor has those of a sandbox
// run: they bear no command line.
func guestProcesses(t *testing.T, sandbox string) []int {
	t.Helper()
	lists, err := filepath.Glob("/sys/fs/cgroup/*/sandgate-" + sandbox + "/cgroup.procs")
	if own, _ := filepath.Glob("/sys/fs/cgroup/sandgate-" + sandbox + "/cgroup.procs"); len(own) > 0 {
		lists = own
	}
	if err != nil || len(lists) == 0 {
		t.Fatalf("the sandbox has no cgroup: %v", err)
	}
	procs, err := os.ReadFile(lists[0])
	if err != nil {
		t.Fatal(err)
	}
	var found []int
	for field := range strings.FieldsSeq(string(procs)) {
		if cmdline, err := os.ReadFile(filepath.Join("/proc", field, "cmdline")); err == nil && len(cmdline) == 0 {
			pid, _ := strconv.Atoi(field)
			found = append(found, pid)
		}
	}
	return found
}
