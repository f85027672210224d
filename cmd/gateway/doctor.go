package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sys/unix"

	"sandgate/sandboxclient"
)

// An examination looks at one thing that sandboxes need. It gives what it found, or
// an error that says what to do.
type examination struct {
	name string
	look func(context.Context, Config) (string, error)
}

// doctor says of everything that sandboxes need whether it is there, and at
// last makes one.
func doctor(ctx context.Context, cfg Config, w io.Writer) error {
	failed := 0
	for _, c := range []examination{
		{"rights", lookAtRights},
		{"kernel", lookAtKernel},
		{"cgroups", lookAtCgroups},
		{"runtime", lookAtRuntime},
		{"sandboxd", lookAtSandboxd},
		{"python", lookAtPython},
		{"state", lookAtState},
		{"sandbox", trySandbox},
	} {
		if c.name == "sandbox" && failed > 0 {
			fmt.Fprintf(w, "--    %-9s not tried, because of what failed above\n", c.name)
			continue
		}
		found, err := c.look(ctx, cfg)
		if err != nil {
			failed++
			fmt.Fprintf(w, "FAIL  %-9s %v\n", c.name, err)
			continue
		}
		fmt.Fprintf(w, "ok    %-9s %s\n", c.name, found)
	}
	if failed > 0 {
		return fmt.Errorf("%d of the checks failed", failed)
	}
	return nil
}

func lookAtRights(_ context.Context, cfg Config) (string, error) {
	return "enough rights to make sandboxes", checkRights(cfg)
}

func lookAtKernel(context.Context, Config) (string, error) {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return "", err
	}
	return unix.ByteSliceToString(name.Sysname[:]) + " " + unix.ByteSliceToString(name.Release[:]) + " " +
		unix.ByteSliceToString(name.Machine[:]), nil
}

const cgroupMount = "/sys/fs/cgroup"

// lookAtCgroups tells by what is mounted which version holds the limits.
func lookAtCgroups(context.Context, Config) (string, error) {
	var root unix.Statfs_t
	if err := unix.Statfs(cgroupMount, &root); err != nil {
		return "", fmt.Errorf("nothing holds the limits of sandboxes: mount cgroups at %s: %w", cgroupMount, err)
	}
	if root.Type == unix.CGROUP2_SUPER_MAGIC {
		return "version 2", nil
	}
	if _, err := os.Stat(filepath.Join(cgroupMount, "memory")); err != nil {
		return "", fmt.Errorf("the memory of sandboxes cannot be limited: enable the memory controller below %s: %w", cgroupMount, err)
	}
	return "version 1", nil
}

func lookAtRuntime(ctx context.Context, cfg Config) (string, error) {
	path, err := findProgram(cfg.Runtime, "--runtime")
	if err != nil {
		return "", err
	}
	words, err := firstLine(ctx, path, "--version")
	if err != nil {
		return "", fmt.Errorf("%s does not run: is it an OCI runtime for this machine? %w", path, err)
	}
	return path + ", " + words, nil
}

func lookAtSandboxd(_ context.Context, cfg Config) (string, error) {
	return findProgram(cfg.Sandboxd, "--sandboxd")
}

// insidePython is where sandboxes look for the interpreter.
const insidePython = "usr/bin/python3"

// lookAtPython looks for what will run Python cells. What is in a rootfs is
// only looked at: it is not for this host to run.
func lookAtPython(ctx context.Context, cfg Config) (string, error) {
	path := filepath.Join("/", cfg.Rootfs, insidePython)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("no cell of Python can run: install python3, so that %s is there: %w", path, err)
	}
	if cfg.Rootfs != "" {
		return path, nil
	}
	words, err := firstLine(ctx, path, "--version")
	if err != nil {
		return "", fmt.Errorf("%s does not run: %w", path, err)
	}
	engine := "no IPython, so cells are run by the standard library; python3-ipython adds magics and rich values"
	if shell, err := firstLine(ctx, path, "-I", "-c", "import IPython; print('IPython', IPython.__version__)"); err == nil {
		engine = shell
	}
	return fmt.Sprintf("%s, %s, %s", path, words, engine), nil
}

// firstLine runs a program that ends soon and gives the first line it prints.
func firstLine(ctx context.Context, path string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	output, err := exec.CommandContext(ctx, path, args...).Output()
	line, _, _ := strings.Cut(string(output), "\n")
	return line, err
}

// lookAtState looks without making anything, and without taking the lock for
// longer than a look.
func lookAtState(_ context.Context, cfg Config) (string, error) {
	info, err := os.Stat(cfg.StateDir)
	if errors.Is(err, fs.ErrNotExist) {
		return cfg.StateDir + " will be made", nil
	}
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s is no directory: choose another --state-dir", cfg.StateDir)
	}
	if err := checkClosed(cfg.StateDir, info.Mode()); err != nil {
		return "", err
	}
	dir, err := os.Open(cfg.StateDir)
	if err != nil {
		return "", err
	}
	defer dir.Close()
	if lock(dir) != nil {
		return cfg.StateDir + ", on which a gateway works at the moment", nil
	}
	return cfg.StateDir, nil
}

// trySandbox makes a sandbox beside everything that is in use, runs a cell in
// it and leaves nothing behind.
func trySandbox(ctx context.Context, cfg Config) (_ string, err error) {
	cfg.Database = ""
	cfg.StateDir, err = os.MkdirTemp("", "sandgate-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(cfg.StateDir)) }()
	client, closeClient, err := openClient(ctx, cfg, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, closeClient()) }()

	begin := time.Now()
	sandbox := client.Sandbox(sandboxclient.Ref{Owner: "local", App: "doctor", Name: "trial"})
	run, err := sandbox.RunCode(ctx, "print(1)", sandboxclient.RunOptions{})
	if err != nil {
		return "", err
	}
	if run.Stdout != "1\n" {
		return "", fmt.Errorf("print(1) printed %.100q and %.500q", run.Stdout, run.Stderr)
	}
	took := time.Since(begin).Round(time.Millisecond)
	return fmt.Sprintf("started and ran print(1) in %v", took), sandbox.Destroy(ctx, sandboxclient.RemoveWorkspace)
}
