package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"sandgate/sandboxclient"
	"sandgate/sandboxclient/local"
)

// A closingDriver is a driver that must be closed after its last use.
type closingDriver interface {
	sandboxclient.Driver
	Close() error
}

// newDriver makes the driver that the configuration names. The state directory
// must be locked.
func newDriver(ctx context.Context, cfg Config, log *slog.Logger) (closingDriver, error) {
	switch cfg.Driver {
	case "local":
		return newLocal(ctx, cfg, log)
	default:
		return nil, fmt.Errorf("there is no driver %q", cfg.Driver)
	}
}

func newLocal(ctx context.Context, cfg Config, log *slog.Logger) (*local.Driver, error) {
	runtime, err := findProgram(cfg.Runtime, "--runtime")
	if err != nil {
		return nil, err
	}
	sandboxd, err := findProgram(cfg.Sandboxd, "--sandboxd")
	if err != nil {
		return nil, err
	}
	return local.New(ctx, local.Config{
		StateDir: cfg.StateDir,
		Runtime:  runtime,
		Sandboxd: sandboxd,
		Rootfs:   cfg.Rootfs,
		Logger:   log,

		CheckpointBytes: int64(cfg.SleepDisk),
	})
}

// findProgram gives the path of a program: a path as it is, a name beside this
// program or else on PATH.
func findProgram(name, flag string) (string, error) {
	if strings.Contains(name, "/") {
		path, err := exec.LookPath(name)
		if err != nil {
			return "", fmt.Errorf("%s is no program: correct %s: %w", name, flag, err)
		}
		return filepath.Abs(path)
	}
	if self, err := os.Executable(); err == nil {
		if beside, err := exec.LookPath(filepath.Join(filepath.Dir(self), name)); err == nil {
			return beside, nil
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("there is no %s beside this program or on PATH: `make build` makes it, or name its path with %s", name, flag)
	}
	return filepath.Abs(path)
}

// errNotRoot is told before anything is tried that only root can do.
var errNotRoot = errors.New("making sandboxes needs root: start the gateway with sudo, or as a system service")

// checkRights says whether this user can do what the driver needs.
func checkRights(cfg Config) error {
	if cfg.Driver == "local" && os.Geteuid() != 0 {
		return errNotRoot
	}
	return nil
}
