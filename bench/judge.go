package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const (
	judgeModule = "github.com/criyle/go-judge/cmd/go-judge@v1.9.2"
	judgeBuild  = 3 * time.Minute  // to fetch and build it at most
	judgeStart  = 10 * time.Second // until it answers at most, or has ended
)

// judge is a go-judge server, which is built from its module when it is wanted:
// a respected sandbox for short programs, and nothing that Sandgate needs.
type judge struct {
	url   string
	http  *http.Client
	close func() // ends it, and waits
}

func newJudge(ctx context.Context, dir string) (*judge, error) {
	program, err := buildJudge(ctx, dir)
	if err != nil {
		return nil, err
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	j := &judge{url: "http://" + address, http: newClient()}
	if j.close, err = startJudge(program, address); err != nil {
		return nil, err
	}
	if err := j.ready(ctx); err != nil {
		j.close()
		return nil, err
	}
	return j, nil
}

func startJudge(program, address string) (stop func(), err error) {
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, "-http-addr", address, "-silent")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = judgeStart
	if err := cmd.Start(); err != nil {
		cancel()
		return nil, err
	}
	return func() {
		cancel()
		_ = cmd.Wait()
	}, nil
}

// buildJudge gives the path of a go-judge.
func buildJudge(ctx context.Context, dir string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, judgeBuild)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "install", judgeModule)
	cmd.Dir = dir // beside no go.mod
	cmd.Env = append(os.Environ(), "GOBIN="+dir, "CGO_ENABLED=0")
	cmd.WaitDelay = time.Second // for compilers that outlive it
	if out, err := cmd.CombinedOutput(); err != nil {
		line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		return "", fmt.Errorf("%w: %s", err, line)
	}
	return filepath.Join(dir, "go-judge"), nil
}

// freeAddress gives an address on which nobody listens now.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}

// ready waits until a program was run.
func (j *judge) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, judgeStart)
	defer cancel()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		err := j.runTrue(ctx, 0)
		if err == nil {
			return nil
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return err
		}
	}
}

// judgeTrue asks for a run of /bin/true, with output collected as a cell's is.
const judgeTrue = `{"cmd":[{"args":["/bin/true"],"env":["PATH=/usr/bin:/bin"],
	"files":[{"content":""},{"name":"stdout","max":10240},{"name":"stderr","max":10240}],
	"cpuLimit":10000000000,"memoryLimit":104857600,"procLimit":50}]}`

// runTrue runs /bin/true.
func (j *judge) runTrue(ctx context.Context, _ int) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, j.url+"/run", strings.NewReader(judgeTrue))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := j.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, miB))
	if err != nil {
		return err
	}
	var results []struct{ Status string }
	if err := json.Unmarshal(text, &results); err != nil || len(results) != 1 || results[0].Status != "Accepted" {
		return fmt.Errorf("go-judge: %s: %s", resp.Status, bytes.TrimSpace(text))
	}
	return nil
}
