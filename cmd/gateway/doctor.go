package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// An examination looks at one thing that sandboxes need. It gives what it found, or
// an error that says what to do.
type examination struct {
	name string
	look func(context.Context, Config) (string, error)
}

// doctor says of everything that sandboxes need whether it is there, and at
// last makes one and looks at it from inside.
func doctor(ctx context.Context, cfg Config, w io.Writer) error {
	r := &findings{w: w}
	for _, c := range []examination{
		{"rights", lookAtRights},
		{"kernel", lookAtKernel},
		{"cgroups", lookAtCgroups},
		{"runtime", lookAtRuntime},
		{"sandboxd", lookAtSandboxd},
		{"python", lookAtPython},
		{"egress", lookAtEgress},
		{"state", lookAtState},
	} {
		found, err := c.look(ctx, cfg)
		r.tell(c.name, found, err)
	}
	tellHazards(ctx, cfg, r)
	if r.failed > 0 {
		r.skip("sandbox", "not tried, because of what failed above")
	} else {
		tellSandbox(ctx, cfg, r)
	}
	if r.failed > 0 {
		return fmt.Errorf("%d of the checks failed", r.failed)
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
