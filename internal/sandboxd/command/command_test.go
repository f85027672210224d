package command

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sandgate/sandboxclient/wire"
)

func TestStart_tellsHowItEnded(t *testing.T) {
	r := sh(t, "echo out; echo err >&2; exit 3")
	r.want(t, wire.StatusExited, 3, "")
	if r.stdout != "out\n" || r.stderr != "err\n" {
		t.Errorf("got %q and %q", r.stdout, r.stderr)
	}
	if r.events[0].Type != wire.EventStart || r.events[0].Seq != 1 {
		t.Errorf("the first event is %+v", r.events[0])
	}
	if r.exit.DurationMS <= 0 {
		t.Errorf("took %v ms", r.exit.DurationMS)
	}
	sh(t, "exit 0").want(t, wire.StatusExited, 0, "")
	sh(t, "kill -SEGV $$").want(t, wire.StatusSignaled, 139, "SIGSEGV")
	sh(t, "kill -TERM $$").want(t, wire.StatusSignaled, 143, "SIGTERM")
}

func TestStart_givesTheDefaultEnvironment(t *testing.T) {
	r := runCommand(t, wire.ExecRequest{
		Argv: []string{"env"}, Dir: "/usr",
		Env: map[string]string{"MINE": "a=b\nc", "LANG": "de", "EMPTY": ""},
	})
	for _, want := range []string{
		"HOME=/home/sandbox\n", "USER=sandbox\n", "LOGNAME=sandbox\n", "PATH=/usr/local/bin:/usr/bin:/bin\n",
		"TMPDIR=/tmp\n", "TERM=dumb\n", "SHELL=/bin/bash\n", "MINE=a=b\nc\n", "LANG=de\n", "EMPTY=\n",
	} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("no %q in %q", want, r.stdout)
		}
	}
}

func TestStart_passesArgumentsAsTheyAre(t *testing.T) {
	args := []string{"", " ", "a b", "'", `"`, "$HOME", "`id`", "*", "\n", "ä☕", "\xff", "-n", "--"}
	r := runCommand(t, wire.ExecRequest{Argv: append([]string{"/usr/bin/printf", `[%s]`}, args...)})
	want := ""
	for _, a := range args {
		want += "[" + a + "]"
	}
	if r.stdout != want {
		t.Errorf("got %q, want %q", r.stdout, want)
	}
}

func TestStart_feedsStdin(t *testing.T) {
	large := strings.Repeat("0123456789abcde\n", 300_000)
	r := runCommand(t, wire.ExecRequest{Argv: []string{"cat"}, Stdin: []byte(large)})
	if r.stdout != large {
		t.Errorf("%d bytes of %d come back", len(r.stdout), len(large))
	}
	none := runCommand(t, wire.ExecRequest{Argv: []string{"cat"}})
	none.want(t, wire.StatusExited, 0, "")
	untouched := runCommand(t, wire.ExecRequest{Argv: []string{"true"}, Stdin: []byte(large)})
	untouched.want(t, wire.StatusExited, 0, "")
}

func TestStart_losesNoByteOfOutput(t *testing.T) {
	r := runCommand(t, wire.ExecRequest{Argv: []string{"bash", "-c", `
		for i in {1..20000}; do echo $i; done
		printf '\0\xff\r'
		head -c 3000000 /dev/zero | tr '\0' x >&2`}})
	var want strings.Builder
	for i := range 20000 {
		fmt.Fprintln(&want, i+1)
	}
	want.WriteString("\x00\xff\r")
	if r.stdout != want.String() {
		t.Errorf("%d bytes of stdout, want %d", len(r.stdout), want.Len())
	}
	if r.stderr != strings.Repeat("x", 3_000_000) {
		t.Errorf("%d bytes of stderr", len(r.stderr))
	}
}

func TestStart_refusals(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, req := range map[string]wire.ExecRequest{
		"no argv":         {},
		"empty program":   {Argv: []string{""}},
		"nul in program":  {Argv: []string{"a\x00b"}},
		"nul in argument": {Argv: []string{"true", "a\x00b"}},
		"not found":       {Argv: []string{"no-such-program"}},
		"no such file":    {Argv: []string{"/no/such/program"}},
		"not executable":  {Argv: []string{"/etc/passwd"}},
		"dir not there":   {Argv: []string{"true"}, Dir: "/no/such/dir"},
		"dir is a file":   {Argv: []string{"true"}, Dir: plain},
		"dir is relative": {Argv: []string{"true"}, Dir: "usr"},
		"dir is private":  {Argv: []string{"true"}, Dir: "/root"},
		"bad variable":    {Argv: []string{"true"}, Env: map[string]string{"A=B": "c"}},
		"no variable":     {Argv: []string{"true"}, Env: map[string]string{"": "c"}},
		"nul in variable": {Argv: []string{"true"}, Env: map[string]string{"A": "\x00"}},
		"too long":        {Argv: []string{"true", strings.Repeat("x", 3<<20)}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := begin(t, req)
			e, ok := errors.AsType[*wire.Error](err)
			if !ok || e.Code != wire.CodeInvalid || e.Message == "" {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestStart_endsWithItsWholeTree(t *testing.T) {
	dir := shared(t)
	r := runCommand(t, wire.ExecRequest{Dir: dir, Argv: []string{"bash", "-c",
		`( setsid bash -c 'echo $$ > pid; exec sleep 1000' & ); while ! [ -s pid ]; do sleep 0.01; done; cat pid; kill -0 $(cat pid) && echo was there`}})
	r.want(t, wire.StatusExited, 0, "")
	lines := strings.Fields(r.stdout)
	pid, err := strconv.Atoi(lines[0])
	if err != nil || !strings.Contains(r.stdout, "was there") {
		t.Fatalf("got %q", r.stdout)
	}
	if alive(pid) {
		t.Error("it is still there")
	}
}

func TestTimeout_endsTheTreeAndTellsSo(t *testing.T) {
	for name, script := range map[string]string{
		"waits":        `sleep 1000 & echo $!; echo before; wait`,
		"holds a pipe": `sleep 1000 & echo $!; echo before; exec sleep 1000`,
		"ignores TERM": `trap '' TERM; setsid sleep 1000 & echo $!; echo before; while :; do sleep 0.1; done`,
		"spins":        `setsid sleep 1000 & echo $!; echo before; while :; do :; done`,
	} {
		t.Run(name, func(t *testing.T) {
			begin := time.Now()
			r := runCommand(t, wire.ExecRequest{Argv: []string{"bash", "-c", script}, TimeoutMS: 300})
			if r.exit.Status != wire.StatusTimedOut || r.exit.ExitCode < 128 {
				t.Errorf("ended as %+v", r.exit)
			}
			if !strings.HasSuffix(r.stdout, "before\n") {
				t.Errorf("output before the timeout: %q", r.stdout)
			}
			if took := time.Since(begin); took < 300*time.Millisecond || took > hang/2 {
				t.Errorf("took %v", took)
			}
			pid, err := strconv.Atoi(strings.Fields(r.stdout)[0])
			if err != nil || alive(pid) {
				t.Errorf("child %d, %v, is still there", pid, err)
			}
		})
	}
}

func TestTimeout_leavesAProgramTimeToEnd(t *testing.T) {
	r := runCommand(t, wire.ExecRequest{TimeoutMS: 200, Argv: []string{"bash", "-c", `trap 'echo cleaned up; exit 5' TERM; while :; do sleep 0.01; done`}})
	r.want(t, wire.StatusTimedOut, 5, "")
	if r.stdout != "cleaned up\n" {
		t.Errorf("got %q", r.stdout)
	}
}

func TestCancel_endsTheTree(t *testing.T) {
	dir := shared(t)
	x, err := begin(t, wire.ExecRequest{Dir: dir, Argv: []string{"bash", "-c", `setsid sleep 1000 & echo $! > pid; wait`}})
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(awaitFile(t, filepath.Join(dir, "pid")))
	if err != nil || !alive(pid) {
		t.Fatalf("child %d, %v", pid, err)
	}
	x.Cancel(wire.StatusCanceled)
	finish(t, x).want(t, wire.StatusCanceled, 143, "SIGTERM")
	if alive(pid) {
		t.Error("the child is still there")
	}
}

func TestOutput_isBounded(t *testing.T) {
	r := runCommand(t, wire.ExecRequest{
		Argv:   []string{"bash", "-c", `head -c 5000 /dev/zero | tr '\0' x; echo done >&2; exit 4`},
		Output: wire.Output{Keep: 1000},
	})
	r.want(t, wire.StatusExited, 4, "")
	if len(r.stdout)+len(r.stderr) != 1000 || !r.exit.Truncated {
		t.Errorf("%d bytes, %+v", len(r.stdout), r.exit)
	}
	flood := runCommand(t, wire.ExecRequest{Argv: []string{"yes"}, Output: wire.Output{Keep: 1000, Max: 100_000}})
	flood.want(t, wire.StatusOutputLimited, 137, "SIGKILL")
	if len(flood.stdout) != 1000 || !flood.exit.Truncated {
		t.Errorf("%d bytes, %+v", len(flood.stdout), flood.exit)
	}
}

// A pipe's end that was passed to a process of another tree must not hold the
// execution up.
func TestEnd_doesNotWaitForStrangersWithThePipe(t *testing.T) {
	dir := shared(t)
	stranger, err := begin(t, wire.ExecRequest{Dir: dir, Argv: []string{"/usr/bin/python3", "-c", `
import socket, time
s = socket.socket(socket.AF_UNIX); s.bind("s"); s.listen()
open("ready", "w").write("\n")
c, _ = s.accept()
fds = socket.recv_fds(c, 1, 4)
c.send(b"x")
time.sleep(1000)`}})
	if err != nil {
		t.Fatal(err)
	}
	awaitFile(t, filepath.Join(dir, "ready"))
	r := runCommand(t, wire.ExecRequest{Dir: dir, Argv: []string{"/usr/bin/python3", "-c", `
import socket
s = socket.socket(socket.AF_UNIX); s.connect("s")
socket.send_fds(s, [b"x"], [1]); s.recv(1)
print("passed on")`}})
	r.want(t, wire.StatusExited, 0, "")
	if r.stdout != "passed on\n" {
		t.Errorf("got %q, %q", r.stdout, r.stderr)
	}
	stranger.Cancel(wire.StatusCanceled)
	finish(t, stranger)
}

func TestStart_leavesNoDescriptorOpen(t *testing.T) {
	sh(t, "true")
	count := func() int {
		fds, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(fds)
	}
	before := count()
	for range 20 {
		sh(t, "echo x")
		_, _ = begin(t, wire.ExecRequest{Argv: []string{"no-such-program"}})
	}
	if after := count(); after > before+2 { // a shim more may be kept
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

func TestExit_ofEveryKind(t *testing.T) {
	exited := func(code int) syscall.WaitStatus { return syscall.WaitStatus(code << 8) }
	for _, tt := range []struct {
		ws   syscall.WaitStatus
		ours wire.Status
		want wire.Exit
	}{
		{exited(0), "", wire.Exit{Status: wire.StatusExited}},
		{exited(255), "", wire.Exit{Status: wire.StatusExited, ExitCode: 255}},
		{syscall.WaitStatus(9), "", wire.Exit{Status: wire.StatusSignaled, ExitCode: 137, Signal: "SIGKILL"}},
		{syscall.WaitStatus(11 | 0x80), "", wire.Exit{Status: wire.StatusSignaled, ExitCode: 139, Signal: "SIGSEGV"}},
		{exited(0), wire.StatusTimedOut, wire.Exit{Status: wire.StatusTimedOut}},
		{syscall.WaitStatus(15), wire.StatusCanceled, wire.Exit{Status: wire.StatusCanceled, ExitCode: 143, Signal: "SIGTERM"}},
	} {
		if got := exit(tt.ws, tt.ours, 0); got != tt.want {
			t.Errorf("%#x %q: got %+v, want %+v", tt.ws, tt.ours, got, tt.want)
		}
	}
}
