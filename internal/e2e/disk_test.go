package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"sandgate/internal/sandboxtest"
)

func TestDisk_aFullWorkspaceIsToldAndHarmsNobody(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
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

// smallDisk makes a state directory on a disk that is smaller than a workspace.
func smallDisk(t *testing.T) string {
	t.Helper()
	sandboxtest.Require(t)
	dir := stateDir(t)
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=128m"); err != nil {
		t.Fatal(err)
	}
	// Whatever else starts a sandbox on this machine at the wrong moment keeps
	// the disk in use until that has its own root.
	t.Cleanup(func() {
		eventually(t, "the disk is nobody's", func() bool { return unix.Unmount(dir, 0) == nil })
	})
	return dir
}

// What the host's disk has no room for is refused, and not taken and lost later.
// Not parallel: sandboxes of other gateways that start would see the disk, and
// keep it mounted.
func TestDisk_theHostsOwnIsFull(t *testing.T) {
	dir := smallDisk(t)
	g := startIn(t, dir)
	ask(t, http.MethodPut, file(g, "kept"), "old").has(200)
	large := strings.Repeat("x", 200<<20)
	ask(t, http.MethodPut, file(g, "kept"), large).has(http.StatusInsufficientStorage, "disk of this gateway")
	chunked := io.MultiReader(strings.NewReader(large)) // of no known length
	askContext(t.Context(), t, http.MethodPut, file(g, "kept"), chunked).has(http.StatusInsufficientStorage)
	ask(t, http.MethodGet, file(g, "kept"), "").is(200, "old")

	filler := filepath.Join(dir, "filler")
	if err := os.WriteFile(filler, make([]byte, 256<<20), 0o600); !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	ask(t, http.MethodPut, file(g, "new"), "x").has(http.StatusInsufficientStorage)
	ask(t, http.MethodPost, g.URL+"/notebook?notebook=new", "1").has(http.StatusInsufficientStorage)
	ask(t, http.MethodGet, file(g, "kept"), "").is(200, "old")
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	ask(t, http.MethodPut, file(g, "new"), "x").has(200)
	notebook(t, g, "new", "1")
}

// What is acknowledged fits, one upload after the other, and is still there
// when it has reached the disk.
func TestDisk_takesNoMoreThanTheHostsOwnHolds(t *testing.T) {
	g := startIn(t, smallDisk(t))
	part := strings.Repeat("x", 20<<20)
	stored := 0
	for ; stored < 20; stored++ {
		if ask(t, http.MethodPut, file(g, fmt.Sprint("part-", stored)), part).status != http.StatusOK {
			break
		}
	}
	unix.Sync()
	if stored == 0 || stored == 20 {
		t.Errorf("%d uploads were taken", stored)
	}
	for n := range stored {
		ask(t, http.MethodHead, file(g, fmt.Sprint("part-", n)), "").has(200)
		ask(t, http.MethodDelete, file(g, fmt.Sprint("part-", n)), "").has(204)
	}
}
