package kernel

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sandgate/internal/sandboxd/awake"
	"sandgate/internal/sandboxd/shim"
	"sandgate/sandboxclient/wire"
)

// hang is the bound that tells a hang from a slow machine.
const hang = 20 * time.Second

// A program is a process played by a test: a Starter, and the Tree it starts.
type program struct {
	stdout, stderr, replies *os.File
	requests                *bufio.Scanner
	files                   []*os.File
	command                 shim.Command

	mu      sync.Mutex
	signals []syscall.Signal
	since   []time.Time
	ending  sync.Once
	done    chan struct{}
	status  syscall.WaitStatus
}

const programPid = 4711

func newProgram(t *testing.T) *program {
	p := &program{done: make(chan struct{})}
	t.Cleanup(p.Kill)
	return p
}

// Start keeps copies of the descriptors, as a process does.
func (p *program) Start(_ context.Context, cmd shim.Command) (shim.Tree, error) {
	p.command = cmd
	for _, f := range cmd.Files {
		fd, err := syscall.Dup(int(f.Fd()))
		if err != nil {
			return nil, err
		}
		p.files = append(p.files, os.NewFile(uintptr(fd), f.Name()))
	}
	p.stdout, p.stderr, p.replies = p.files[1], p.files[2], p.files[4]
	p.requests = bufio.NewScanner(p.files[3])
	return p, nil
}

func (p *program) Pid() int                   { return programPid }
func (p *program) Done() <-chan struct{}      { return p.done }
func (p *program) Status() syscall.WaitStatus { return p.status }

func (p *program) Signal(sig syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.signals = append(p.signals, sig)
	return nil
}

func (p *program) KillSince(t time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.since = append(p.since, t)
	return nil
}

func (p *program) counts() (signals, killings int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.signals), len(p.since)
}

func (p *program) Kill() { p.end(syscall.WaitStatus(syscall.SIGKILL)) }

// exited is the wait status of a program that exits.
func exited(code int) syscall.WaitStatus { return syscall.WaitStatus(code << 8) }

func (p *program) end(status syscall.WaitStatus) {
	p.ending.Do(func() {
		closeAll(p.files)
		p.status = status
		close(p.done)
	})
}

func (p *program) reply(format string, args ...any) {
	fmt.Fprintf(p.replies, format+"\n", args...)
}

// read gives the next request.
func (p *program) read() (id int, code string) {
	var request struct {
		ID   int
		Code string
	}
	if p.requests.Scan() {
		_ = json.Unmarshal(p.requests.Bytes(), &request)
	}
	return request.ID, request.Code
}

// answer answers n requests with done.
func (p *program) answer(n int) {
	for range n {
		id, _ := p.read()
		p.reply(`{"id":%d,"pid":%d,"type":"done"}`, id, programPid)
	}
}

// startKernel starts a kernel on the program, which is made ready.
func startKernel(t *testing.T, p *program) *Kernel {
	t.Helper()
	starter := starterFunc(func(ctx context.Context, cmd shim.Command) (shim.Tree, error) {
		tree, err := p.Start(ctx, cmd)
		p.reply(`{"id":0,"pid":%d,"type":"ready","engine":"played"}`, programPid)
		return tree, err
	})
	k, err := startIn(t.Context(), t.TempDir(), starter, new(awake.Clock), Spec{Language: wire.Python, Dir: "/"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	return k
}

type starterFunc func(context.Context, shim.Command) (shim.Tree, error)

func (f starterFunc) Start(ctx context.Context, cmd shim.Command) (shim.Tree, error) {
	return f(ctx, cmd)
}

// runCell runs a cell, and gives its exit with what it emitted.
func runCell(ctx context.Context, t *testing.T, k *Kernel) (wire.Exit, []wire.Event) {
	t.Helper()
	type result struct {
		exit   wire.Exit
		events []wire.Event
	}
	ran := make(chan result, 1)
	go func() {
		var r result
		r.exit = k.Run(ctx, Cell{Code: "code"}, func(e wire.Event) { r.events = append(r.events, e) })
		ran <- r
	}()
	select {
	case r := <-ran:
		return r.exit, r.events
	case <-time.After(hang):
		t.Fatal("the cell does not end")
		return wire.Exit{}, nil
	}
}

func output(events []wire.Event, background bool) string {
	var b strings.Builder
	for _, e := range events {
		if e.Background == background {
			b.Write(e.Data)
		}
	}
	return b.String()
}

// waitFor waits for what nothing tells of.
func waitFor(t *testing.T, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(hang); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Error("it does not come to be")
			return
		}
	}
}

func await(t *testing.T, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(hang):
		t.Fatal("it does not end")
	}
}
