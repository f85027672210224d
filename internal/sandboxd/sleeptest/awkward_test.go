package sleeptest

import (
	"embed"
	"strings"
	"testing"

	"sandgate/sandboxclient/wire"
)

// States are cells of Python: what comes before "# asleep" is run, then the
// sandbox sleeps, and the rest must give True.
//
//go:embed states/*.py
var states embed.FS

func TestWake_awkwardStates(t *testing.T) {
	s := newHost(t).start()
	files, err := states.ReadDir("states")
	s.must(err)
	after := make(map[string]string)
	s.cell(prelude)
	for _, file := range files {
		text, err := states.ReadFile("states/" + file.Name())
		s.must(err)
		before, rest, ok := strings.Cut(string(text), "# asleep\n")
		if !ok {
			t.Fatalf("%s does not sleep", file.Name())
		}
		s.cell(before)
		after[strings.TrimSuffix(file.Name(), ".py")] = rest
	}
	s.run(wire.JavaScript, "let ticks = 0; const timer = setInterval(() => { ticks++ }, 5); let kept = { n: 41 }")
	s.run(wire.Bash, "cd /tmp; kept=41; add() { echo $((kept + 1)); }")
	for range 2 { // once is no proof that it goes on
		s.sleep()
		s.wake()
	}
	for name, code := range after {
		t.Run(name, func(t *testing.T) {
			if o := s.run(wire.Python, code); o.result != "True" {
				t.Errorf("it gives %s %s%+v", o.result, o.output, o.exit)
			}
		})
	}
	t.Run("node", func(t *testing.T) {
		code := "const was = ticks; await new Promise((done) => setTimeout(done, 200)); kept.n++; [kept.n, ticks > was]"
		if o := s.run(wire.JavaScript, code); o.result != "[ 42, true ]" || o.start.KernelStarted {
			t.Errorf("it gives %s %s%+v", o.result, o.output, o.exit)
		}
	})
	t.Run("bash", func(t *testing.T) {
		if o := s.run(wire.Bash, "add; pwd"); o.output != "42\n/tmp\n" || o.start.KernelStarted {
			t.Errorf("it gives %s%+v", o.output, o.exit)
		}
	})
}

// prelude is what all states may use.
const prelude = `
import ctypes, fcntl, hashlib, mmap, os, queue, select, socket, sqlite3, struct, subprocess, threading, time
libc = ctypes.CDLL(None, use_errno=True)

def until(condition):
    deadline = time.monotonic() + 60
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("it does not come to be")
        time.sleep(0.01)
    return True
`
