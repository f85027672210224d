// Package sandboxtest gives tests a client on real gVisor sandboxes.
//
// A test binary shares one driver and state directory; each test names
// sandboxes of its own. What runs at the end is cleared:
//
//	func TestMain(m *testing.M) { os.Exit(sandboxtest.Main(m)) }
//
// Without root or a built bin/ a test is skipped with the reason; under CI=true
// that is a failure.
package sandboxtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"sandgate/sandboxclient"
	"sandgate/sandboxclient/local"
)

// Main runs a package's tests and then ends every sandbox that they started.
func Main(m *testing.M) int {
	code := m.Run()
	if err := shared.close(); err != nil {
		fmt.Fprintln(os.Stderr, "sandboxtest:", err)
		return max(code, 1)
	}
	return code
}

// Client gives the client that a test binary's tests share.
func Client(t testing.TB) *sandboxclient.Client { return ClientWithEnv(t, nil) }

// ClientWithEnv gives a client whose code contexts are made with env. It owns
// no driver: clients of one test binary must not use each other's sandboxes.
func ClientWithEnv(t testing.TB, env map[string]string) *sandboxclient.Client {
	t.Helper()
	return New(t, sandboxclient.Options{ContextEnv: env})
}

// New gives a client with options of the test's own, on the shared driver with
// a key of its own; it is closed with the test.
func New(t testing.TB, opts sandboxclient.Options) *sandboxclient.Client {
	t.Helper()
	driver, err := shared.open()
	if err != nil {
		Missing(t, err.Error())
	}
	opts.Driver = driver
	if opts.Records == nil {
		opts.Records = NewRecords()
	}
	opts.Key = make([]byte, 32)
	_, _ = rand.Read(opts.Key)
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.NewTextHandler(t.Output(), nil))
	}
	client := sandboxclient.New(opts)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := client.Close(ctx); err != nil {
			t.Errorf("close client: %v", err)
		}
	})
	return client
}

// Missing skips a test at a desk, and fails it in CI.
func Missing(t testing.TB, reason string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal("required in CI: ", reason)
	}
	t.Skip(reason)
}

// Require skips or fails a test on a machine that cannot run sandboxes.
func Require(t testing.TB) {
	t.Helper()
	if err := able(); err != nil {
		Missing(t, err.Error())
	}
}

func able() error {
	if os.Geteuid() != 0 {
		return errors.New("sandboxes need root")
	}
	for _, name := range []string{"runsc", "sandboxd", "gateway"} {
		if _, err := os.Stat(Bin(name)); err != nil {
			return fmt.Errorf("bin/%s is not built: make build", name)
		}
	}
	return nil
}

// Bin gives the path of a program that `make build` makes.
func Bin(name string) string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "bin", name)
}

// shared is the driver of the test binary.
var shared sharedDriver

type sharedDriver struct {
	mu     sync.Mutex
	driver *local.Driver
	dir    string
}

func (s *sharedDriver) open() (*local.Driver, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.driver != nil {
		return s.driver, nil
	}
	if err := able(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "sg")
	if err != nil {
		return nil, err
	}
	driver, err := local.New(context.Background(), local.Config{StateDir: dir, Runtime: Bin("runsc"), Sandboxd: Bin("sandboxd")})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	s.driver, s.dir = driver, dir
	return driver, nil
}

func (s *sharedDriver) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.driver == nil {
		return nil
	}
	return errors.Join(s.driver.Close(), os.RemoveAll(s.dir))
}
