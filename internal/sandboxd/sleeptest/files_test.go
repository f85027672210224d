package sleeptest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sandgate/sandboxclient/wire"
)

// What programs have mapped or open of the host's files is compared before they
// go on, so all of it must be known: what they themselves see is what is asked for.
func TestSleep_knowsTheFilesOfTheHost(t *testing.T) {
	s := newHost(t).start()
	mapped := s.cell(`import ctypes, os, sqlite3
libm = ctypes.CDLL("libm.so.6")
kept = open("/usr/bin/env", "rb")
lines = [line.split() for line in open("/proc/self/maps")]
"\n".join(sorted({line[5] for line in lines if len(line) > 5 and line[5].startswith("/usr/")} | {kept.name}))`)
	s.run(wire.Bash, "exec 9< /usr/bin/head; sleep 1000 9<&- &")
	s.sleep()
	text, err := os.ReadFile(filepath.Join(s.host.checkpoint(s.id), "files.json"))
	s.must(err)
	var known []struct{ Path string }
	s.must(json.Unmarshal(text, &known))
	paths := make(map[string]bool)
	for _, file := range known {
		paths[file.Path] = true
	}
	mapped = strings.ReplaceAll(strings.Trim(mapped, "'"), "\\n", "\n")
	wanted := append(strings.Split(mapped, "\n"), "/usr/bin/head", "/usr/bin/sleep", "/usr/bin/bash")
	if len(wanted) < 10 {
		t.Fatalf("a Python with a database has mapped no more than %q", wanted)
	}
	for _, path := range wanted {
		if !paths[path] {
			t.Errorf("%s is in use, and not known", path)
		}
	}
}
