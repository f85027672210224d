package sandboxtest

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// An S3Server is a real one, on a directory and a loopback port of its own. It
// checks signatures.
type S3Server struct {
	Endpoint  string // http://127.0.0.1:…
	AccessKey string
	SecretKey string

	t    testing.TB
	dir  string
	addr string
	cmd  *exec.Cmd
	done chan struct{}
}

// StartS3 starts a server, which is ended with the test. It has no bucket yet.
func StartS3(t testing.TB) *S3Server {
	t.Helper()
	if _, err := os.Stat(Bin("versitygw")); err != nil {
		Missing(t, "bin/versitygw is not built: make test")
	}
	s := &S3Server{AccessKey: "test", SecretKey: rand.Text(), t: t, dir: t.TempDir(), addr: freeAddress(t)}
	s.Endpoint = "http://" + s.addr
	s.Start()
	t.Cleanup(s.Kill)
	return s
}

// Start starts the server again, with the content that it had.
func (s *S3Server) Start() {
	s.t.Helper()
	s.cmd = exec.Command(Bin("versitygw"), "--port", s.addr, "--access", s.AccessKey, "--secret", s.SecretKey, "--quiet", "posix", s.dir)
	s.cmd.Stderr = s.t.Output()
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.done = make(chan struct{})
	go func() { // ends with the server
		_ = s.cmd.Wait() // it is killed
		close(s.done)
	}()
	if err := s.await(); err != nil {
		s.t.Fatal(err)
	}
}

// await waits until the server answers.
func (s *S3Server) await() error {
	ctx, cancel := context.WithTimeout(s.t.Context(), 30*time.Second)
	defer cancel()
	retry := time.NewTicker(20 * time.Millisecond)
	defer retry.Stop()
	for {
		if s.answers(ctx) {
			return nil
		}
		select {
		case <-retry.C:
		case <-s.done:
			return fmt.Errorf("the S3 server ended: %s", s.cmd.ProcessState)
		case <-ctx.Done():
			return fmt.Errorf("the S3 server does not answer: %w", ctx.Err())
		}
	}
}

func (s *S3Server) answers(ctx context.Context) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Endpoint, nil)
	if err != nil {
		return false
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(r)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return true
}

// Kill ends the server without a warning. More than once is fine.
func (s *S3Server) Kill() {
	_ = s.cmd.Process.Kill()
	<-s.done
}

// freeAddress gives a loopback address that was free a moment ago.
func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// MakeBucket makes a bucket, which on this server is a directory.
func (s *S3Server) MakeBucket(name string) {
	s.t.Helper()
	if err := os.Mkdir(filepath.Join(s.dir, name), 0o700); err != nil {
		s.t.Fatal(err)
	}
}
