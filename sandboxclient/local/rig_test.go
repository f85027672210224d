package local

import (
	"os"
	"testing"
	"time"
)

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() == 0 {
		return
	}
	if os.Getenv("CI") != "" {
		t.Fatal("required in CI: root")
	}
	t.Skip("this needs root")
}

// newDir makes a directory with a short path, for sockets.
func newDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sg") // t.TempDir is longer
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func newLinkDir(t *testing.T) string {
	t.Helper()
	dir := newDir(t) + "/l"
	if err := makeLinkDir(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// eventually waits for a condition that nobody announces.
func eventually(t *testing.T, done func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for late := time.After(10 * time.Second); !done(); {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal("it did not happen")
		}
	}
}
