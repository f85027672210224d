package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
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
