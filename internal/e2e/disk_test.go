package e2e

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDisk_aFullWorkspaceIsToldAndHarmsNobody(t *testing.T) {
	g := start(t, "--workspace-size", "32MiB")
	notebook(t, g, "other", "x = 1")
	ask(t, http.MethodPut, file(g, "kept.txt"), "old").has(200)
	large := strings.Repeat("x", 40<<20)
	ask(t, http.MethodPut, file(g, "kept.txt"), large).has(http.StatusInsufficientStorage, "No space")
	ask(t, http.MethodGet, file(g, "kept.txt"), "").is(200, "old")
	ask(t, http.MethodPut, file(g, "new.txt"), large).has(http.StatusInsufficientStorage)
	ask(t, http.MethodGet, g.URL+"/files?path=", "").has(200, `"entries":[{"name":"kept.txt"`)

	got := run(t, g, "open('hog', 'w').write('x' * 40_000_000)")
	if got.Error == nil || !strings.Contains(got.Error.Message, "No space left") {
		t.Errorf("filling the disk from inside: %+v", got)
	}
	if got := run(t, g, "import os; os.remove('hog'); open('small', 'w').write('x')"); got.Error != nil {
		t.Errorf("after making room: %+v", got)
	}
	if got := notebook(t, g, "other", "open('mine', 'w').write('x'); x"); len(got.Values) != 1 || got.Values[0] != "1" {
		t.Errorf("the other sandbox: %+v", got)
	}
	ask(t, http.MethodPut, file(g, "later.txt"), "room").has(200)
}

func TestDisk_filesOutliveSleepAndKill(t *testing.T) {
	dir := stateDir(t)
	g := startIn(t, dir, "--sleep-after", "1s")
	ask(t, http.MethodPut, file(g, "kept"), "kept").has(200)
	eventually(t, "the sandbox ended, and its workspace is unmounted", func() bool {
		return len(sandboxProcesses(t, dir)) == 0 && !mentions(t, "/proc/self/mounts", filepath.Join(dir, "sandboxes"))
	})
	ask(t, http.MethodGet, file(g, "kept"), "").is(200, "kept")
	ask(t, http.MethodPut, file(g, "kept"), "again").has(200)
	g.Kill()
	killSandboxes(t, dir)
	g = startIn(t, dir)
	ask(t, http.MethodGet, file(g, "kept"), "").is(200, "again")
}

// mentions says whether a file holds a text.
func mentions(t *testing.T, path, text string) bool {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Contains(data, []byte(text))
}
