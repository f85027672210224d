package sandboxtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
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
}

var announced = regexp.MustCompile(`(http://127\.0\.0\.1:\d+)\S*.*admin (http://127\.0\.0\.1:\d+)`)

// StartGateway starts bin/gateway on free ports with dir as its state
// directory, and waits until it says that it listens.
func StartGateway(dir string, args ...string) (*Gateway, error) {
	args = append([]string{"--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--state-dir", dir}, args...)
	g := &Gateway{Dir: dir, cmd: exec.Command(Bin("gateway"), args...), done: make(chan struct{})}
	stdout, err := g.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	g.cmd.Stderr = &g.log
	if err := g.cmd.Start(); err != nil {
		return nil, err
	}
	ready := make(chan []string, 1)
	go g.watch(stdout, ready)
	select {
	case addresses := <-ready:
		g.URL, g.Admin = addresses[1], addresses[2]
		return g, nil
	case <-g.done:
		return nil, fmt.Errorf("the gateway ended at once: %w\n%s", errors.Join(g.err, errors.New("no address")), g.Log())
	case <-time.After(time.Minute):
		g.Kill()
		return nil, fmt.Errorf("the gateway says nothing\n%s", g.Log())
	}
}

// watch reads what the gateway prints and ends with it.
func (g *Gateway) watch(stdout io.Reader, ready chan<- []string) {
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		found := announced.FindStringSubmatch(lines.Text())
		if found == nil {
			continue
		}
		select {
		case ready <- found:
		default: // said twice
		}
	}
	g.err = g.cmd.Wait()
	close(g.done)
}

// PID is the gateway's process id.
func (g *Gateway) PID() int { return g.cmd.Process.Pid }

// Log is what the gateway logged so far.
func (g *Gateway) Log() string { return g.log.String() }

// Stop ends the gateway as an operator does, and waits for it.
func (g *Gateway) Stop(ctx context.Context) error {
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
	_ = g.cmd.Process.Kill()
	<-g.done
}

// logBuffer is written by the process and read by the test.
type logBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
