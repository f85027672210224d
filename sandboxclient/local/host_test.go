package local_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"sandgate/internal/sandboxtest"
	"sandgate/sandboxclient"
	"sandgate/sandboxclient/local"
)

// requireBinaries skips at a desk, and fails in CI, when something is not built.
func requireBinaries(t *testing.T, cfg local.Config) {
	t.Helper()
	if os.Geteuid() != 0 {
		sandboxtest.Missing(t, "sandboxes need root")
	}
	for _, path := range []string{cfg.Runtime, cfg.Sandboxd} {
		if _, err := os.Stat(path); err != nil {
			sandboxtest.Missing(t, fmt.Sprintf("not built: make build: %v", err))
		}
	}
}

func open(t *testing.T, cfg local.Config) *local.Driver {
	t.Helper()
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.NewTextHandler(t.Output(), nil))
	}
	driver, err := local.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return driver
}

func workspace(state string, id sandboxclient.ID) string {
	return filepath.Join(state, "sandboxes", string(id), "workspace")
}

// kill ends the sandbox's first process on the host: gVisor's kernel, or sandboxd.
func kill(t *testing.T, state string, id sandboxclient.ID) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(state, "sandboxes", string(id), "bundle", "pid"))
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

// leftovers looks where sandboxes leave traces on a host.
func leftovers(state string, ids []sandboxclient.ID) []string {
	found := lines("/proc/self/mounts", state)
	for _, file := range glob("/sys/block/loop*/loop/backing_file") {
		found = append(found, lines(file, state)...)
	}
	for _, id := range ids {
		found = append(found, glob("/sys/fs/cgroup/*"+string(id)+"*")...)
		found = append(found, glob("/sys/fs/cgroup/*/*"+string(id)+"*")...)
		found = append(found, glob(filepath.Join(state, "run", string(id)))...)
		found = append(found, glob(filepath.Join(state, "run", "run*", "*"+string(id)+"*"))...)
		found = append(found, glob(filepath.Join(state, "sandboxes", string(id), "bundle"))...)
		found = append(found, glob(filepath.Join(state, "sandboxes", string(id), "*.new"))...)
		for _, cmdline := range glob("/proc/[0-9]*/cmdline") {
			found = append(found, lines(cmdline, string(id))...)
		}
	}
	return found
}

func glob(pattern string) []string {
	paths, _ := filepath.Glob(pattern)
	return paths
}

// lines gives the lines of a file that hold the text, each with the file's name.
func lines(path, text string) []string {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil // a process that has ended
	}
	var found []string
	for line := range strings.Lines(string(data)) {
		if strings.Contains(line, text) {
			found = append(found, path+": "+strings.ReplaceAll(strings.TrimSpace(line), "\x00", " "))
		}
	}
	return found
}

// checkpoint names the files of a hibernated sandbox's memory.
func checkpoint(state string, id sandboxclient.ID) []string {
	return glob(filepath.Join(state, "sandboxes", string(id), "checkpoint", "*.img"))
}
