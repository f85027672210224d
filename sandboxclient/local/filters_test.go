package local_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"sandgate/internal/sandboxtest"
)

// bin/runsc is built with its system call filters compiled (tools/runsc.sh): one
// that compiles them at each start says so in its log.
func TestRunsc_startsWithItsFiltersCompiled(t *testing.T) {
	b := newBench(t, "runsc")
	logs := t.TempDir() + "/"
	b.wrap(fmt.Sprintf("exec %s --debug-log=%s \"$@\"", sandboxtest.Bin("runsc"), logs))
	b.works(b.open())
	for _, part := range []string{"boot", "gofer"} {
		names, err := filepath.Glob(logs + "*." + part + ".txt")
		if err != nil || len(names) == 0 {
			t.Fatalf("no log of %s: %v", part, err)
		}
		for _, name := range names {
			log, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(log, []byte("No precompiled program found")) {
				t.Errorf("it compiled those of %s:\n%.500s", part, log)
			}
		}
	}
}
