package sandboxtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// A Gateway is the shipped binary, run as its user would run it.
type Gateway struct {
	URL   string // http://127.0.0.1:…, without a slash at the end
	Admin string
	Dir   string // the state directory

	cmd  *exec.Cmd
	log  logBuffer
	done chan struct{}
	err  error // of the process, once done is closed

	killed atomic.Bool
}

// announced is the log line that tells where a gateway listens.
var announced = regexp.MustCompile(`msg=ready url=(\S+).* admin=(\S+)`)

// StartGateway starts bin/gateway on free ports with dir as its state
// directory, and waits until it says that it listens.
func StartGateway(dir string, args ...string) (*Gateway, error) {
	args = append([]string{"--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--state-dir", dir}, args...)
	g := &Gateway{Dir: dir, cmd: exec.Command(Bin("gateway"), args...), done: make(chan struct{})}
	ready := make(chan []string, 1)
	g.log.ready = ready
	g.cmd.Stderr = &g.log
	if err := g.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { // ends with the gateway
		g.err = g.cmd.Wait()
		close(g.done)
	}()
	select {
	case addresses := <-ready:
		g.URL, g.Admin = addresses[1], addresses[2]
		return g, nil
	case <-g.done:
		return nil, fmt.Errorf("the gateway ended at once (%w)\n%s", g.err, g.Log())
	case <-time.After(time.Minute):
		g.Kill()
		return nil, fmt.Errorf("the gateway says nothing\n%s", g.Log())
	}
}

// PID is the gateway's process id.
func (g *Gateway) PID() int { return g.cmd.Process.Pid }

// Log is what the gateway logged so far.
func (g *Gateway) Log() string { return g.log.String() }

// Stop ends the gateway as an operator does, and waits for it.
// One that was killed before has ended.
func (g *Gateway) Stop(ctx context.Context) error {
	if g.killed.Load() {
		return nil
	}
	if err := g.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-g.done:
		return g.err
	case <-ctx.Done():
		g.Kill()
		return fmt.Errorf("the gateway does not end\n%s", g.Log())
	}
}

// Kill ends the gateway without a warning, and waits for it.
func (g *Gateway) Kill() {
	g.killed.Store(true)
	_ = g.cmd.Process.Kill()
	<-g.done
}

// logBuffer is written by the process and read by the test.
type logBuffer struct {
	mu    sync.Mutex
	text  strings.Builder
	ready chan []string // gets the addresses, once
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text.Write(p)
	if found := announced.FindStringSubmatch(b.text.String()); found != nil && b.ready != nil {
		b.ready <- found
		b.ready = nil
	}
	return len(p), nil
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
