package shim

import (
	"bytes"
	"context"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sandgate/internal/sandboxd/reaper"
)

// The test binary is its own shim, and sandboxd's stand-in: a subreaper.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "shim" {
		os.Exit(Main())
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		panic(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	go reaper.Run(ctx)
	code := m.Run()
	stop()
	os.Exit(code)
}

// hang is the bound that tells a hang from a slow machine.
const hang = 20 * time.Second

func newPool(t *testing.T) *Pool {
	t.Helper()
	if os.Getuid() != 0 {
		t.Fatal("needs root: programs run as another user")
	}
	p := NewPool("/proc/self/exe", "shim-test", "shim")
	t.Cleanup(p.Close)
	return p
}

// A program is a started tree with its ends of the pipes.
type program struct {
	Tree
	stdin  *os.File
	stdout *os.File
}

func start(t *testing.T, p *Pool, cmd Command) program {
	t.Helper()
	in, stdin := pipe(t)
	stdout, out := pipe(t)
	cmd.Files = []*os.File{in, out, out}
	if cmd.Dir == "" {
		cmd.Dir = "/"
	}
	if cmd.Env == nil {
		cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin"}
	}
	tree, err := p.Start(t.Context(), cmd)
	if err != nil {
		t.Fatalf("start %q: %v", cmd.Argv, err)
	}
	in.Close()
	out.Close()
	t.Cleanup(tree.Kill)
	return program{Tree: tree, stdin: stdin, stdout: stdout}
}

func shell(t *testing.T, p *Pool, script string) program {
	t.Helper()
	return start(t, p, Command{Argv: []string{"bash", "-c", script}})
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

func (p program) await(t *testing.T) {
	t.Helper()
	select {
	case <-p.Done():
	case <-time.After(hang):
		t.Fatal("the tree does not end")
	}
}

// output ends the program's input, and reads all that it prints.
func (p program) output(t *testing.T) string {
	t.Helper()
	p.stdin.Close()
	p.await(t)
	out, err := io.ReadAll(p.stdout)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// line reads up to a newline.
func (p program) line(t *testing.T) string {
	t.Helper()
	if err := p.stdout.SetReadDeadline(time.Now().Add(hang)); err != nil {
		t.Fatal(err)
	}
	var line []byte
	for one := make([]byte, 1); !bytes.HasSuffix(line, []byte("\n")); {
		if _, err := p.stdout.Read(one); err != nil {
			t.Fatalf("after %q: %v", line, err)
		}
		line = append(line, one[0])
	}
	return strings.TrimSuffix(string(line), "\n")
}

func (p program) pids(t *testing.T, n int) []int {
	t.Helper()
	var pids []int
	for range n {
		pid, err := strconv.Atoi(p.line(t))
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return pids
}

func alive(pid int) bool {
	p, err := readProcess(pid)
	return err == nil && !p.gone()
}

func assertAlive(t *testing.T, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		if !alive(pid) {
			t.Errorf("process %d is not there", pid)
		}
	}
}

func assertGone(t *testing.T, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("process %d is still there", pid)
		}
	}
}

func allBelow(t *testing.T, pid int) []process {
	t.Helper()
	found, err := descendants(pid)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// ofSandboxUser lists our descendants that run as the sandbox user.
func ofSandboxUser(t *testing.T) []process {
	t.Helper()
	return slices.DeleteFunc(allBelow(t, os.Getpid()), func(p process) bool { return !ownedBySandbox(p.pid) })
}
