package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sandgate/internal/sandboxd/execution"
	"sandgate/internal/sandboxd/reaper"
	"sandgate/internal/sandboxd/shim"
	"sandgate/sandboxclient/wire"
)

// hang is the bound that tells a hang from a slow machine.
const hang = 30 * time.Second

var pool *shim.Pool

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "shim" {
		os.Exit(shim.Main())
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		panic(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	go reaper.Run(ctx)
	pool = shim.NewPool("/proc/self/exe", "command-test", "shim")
	code := m.Run()
	pool.Close()
	stop()
	os.Exit(code)
}

// told is all that an execution told.
type told struct {
	stdout, stderr string
	events         []wire.Event
	exit           wire.Exit
}

func begin(t *testing.T, req wire.ExecRequest) (*execution.Execution, error) {
	t.Helper()
	x, err := execution.NewRegistry(execution.Options{}).New("x", execution.Exec, req.Output)
	if err != nil {
		t.Fatal(err)
	}
	if req.Dir == "" {
		req.Dir = "/"
	}
	return x, Start(pool, x, req)
}

func runCommand(t *testing.T, req wire.ExecRequest) told {
	t.Helper()
	x, err := begin(t, req)
	if err != nil {
		t.Fatal(err)
	}
	return finish(t, x)
}

func sh(t *testing.T, script string) told {
	t.Helper()
	return runCommand(t, wire.ExecRequest{Argv: []string{"bash", "-c", script}})
}

func finish(t *testing.T, x *execution.Execution) told {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	var all bytes.Buffer
	for r := x.Follow(0); ; {
		frames, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("no end comes: %v", err)
		}
		all.Write(frames)
	}
	return read(t, &all)
}

func read(t *testing.T, frames io.Reader) told {
	t.Helper()
	var res told
	decoder := wire.NewEventReader(frames, 0)
	for {
		e, err := decoder.Next()
		if errors.Is(err, io.EOF) {
			return res
		}
		if err != nil {
			t.Fatal(err)
		}
		res.events = append(res.events, e)
		switch e.Type {
		case wire.EventStdout:
			res.stdout += string(e.Data)
		case wire.EventStderr:
			res.stderr += string(e.Data)
		case wire.EventComplete:
			res.exit = *e.Exit
		}
	}
}

func (r told) want(t *testing.T, status wire.Status, code int, signal string) {
	t.Helper()
	if r.exit.Status != status || r.exit.ExitCode != code || r.exit.Signal != signal {
		t.Errorf("ended as %+v, want %s %d %q", r.exit, status, code, signal)
	}
}

func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// shared is a directory that the sandbox user can write.
func shared(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func awaitFile(t *testing.T, path string) string {
	t.Helper()
	for begin := time.Now(); ; <-time.After(time.Millisecond) {
		if content, err := os.ReadFile(path); err == nil && bytes.HasSuffix(content, []byte("\n")) {
			return strings.TrimSpace(string(content))
		}
		if time.Since(begin) > hang {
			t.Fatalf("%s does not come", path)
		}
	}
}
