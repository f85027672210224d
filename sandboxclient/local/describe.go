package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"sandgate/sandboxclient"
)

var _ sandboxclient.Describer = (*Driver)(nil)

// Describe tells what runs sandboxes on this host and how limits are held.
func (d *Driver) Describe(ctx context.Context) (sandboxclient.Engine, error) {
	version, err := d.engine.version(ctx)
	if err != nil {
		return sandboxclient.Engine{}, fmt.Errorf("describe: %w", err)
	}
	holds, err := d.holds(ctx)
	if err != nil {
		return sandboxclient.Engine{}, fmt.Errorf("describe: %w", err)
	}
	return sandboxclient.Engine{
		Driver:         "local",
		Runtime:        string(d.engine.kind),
		RuntimeVersion: version,
		HostKernel:     hostKernel(),
		OwnKernel:      d.engine.kind == kindRunsc,
		Cgroups:        cgroupVersion(),
		Network:        "none",
		Hibernation:    d.CanHibernate(),
		Holds:          holds,
		Warnings:       knownBad(d.engine.kind, version),
	}, nil
}

// version is the one word behind "runsc version" or "runc version".
func (e *engine) version(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, e.Command, "--version").Output()
	if err != nil {
		return "", err
	}
	fields := strings.Fields(string(out))
	if len(fields) < 3 {
		return "", fmt.Errorf("%s --version says %.40q", e.Command, out)
	}
	return fields[2], nil
}

func hostKernel() string {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return ""
	}
	return unix.ByteSliceToString(name.Sysname[:]) + " " + unix.ByteSliceToString(name.Release[:])
}

// cgroupVersion is what holds limits: a host with both holds them by version 1.
func cgroupVersion() int {
	var root unix.Statfs_t
	if err := unix.Statfs(cgroupRoot, &root); err != nil {
		return 0
	}
	if root.Type == unix.CGROUP2_SUPER_MAGIC {
		return 2
	}
	return 1
}

// holds says of each limit what holds it under this runtime.
func (d *Driver) holds(ctx context.Context) (map[string]sandboxclient.Hold, error) {
	workspace, err := d.disks.hold(ctx)
	if err != nil {
		return nil, err
	}
	holds := map[string]sandboxclient.Hold{
		sandboxclient.LimitMemory:     byController("memory"),
		sandboxclient.LimitSwap:       swapHold(),
		sandboxclient.LimitCPU:        byController("cpu"),
		sandboxclient.LimitCPUCount:   held("gVisor, which gives 2 at least"),
		sandboxclient.LimitProcesses:  held("RLIMIT_NPROC of the sandbox user, and a wider pids cgroup behind it"),
		sandboxclient.LimitOpenFiles:  held("RLIMIT_NOFILE"),
		sandboxclient.LimitDisposable: held("size of each tmpfs, counted as memory"),
		sandboxclient.LimitWorkspace:  workspace,
	}
	if d.engine.kind == kindRunc {
		holds[sandboxclient.LimitCPUCount] = sandboxclient.Hold{By: "user code sees the host's processors, and gets its share of their time"}
		holds[sandboxclient.LimitProcesses] = byController("pids")
	}
	return holds, nil
}

func held(by string) sandboxclient.Hold { return sandboxclient.Hold{Enforced: true, By: by} }

// byController says whether the host has the cgroup controller of a limit.
func byController(name string) sandboxclient.Hold {
	if !hasController(name) {
		return sandboxclient.Hold{By: "this host's cgroups have no " + name + " controller"}
	}
	return held(name + " cgroup")
}

func hasController(name string) bool {
	if list, err := os.ReadFile(filepath.Join(cgroupRoot, "cgroup.controllers")); err == nil {
		return slices.Contains(strings.Fields(string(list)), name)
	}
	_, err := os.Stat(filepath.Join(cgroupRoot, name))
	return err == nil
}

func swapHold() sandboxclient.Hold {
	if !swapIsAccounted() {
		return sandboxclient.Hold{By: "this host does not count swap: boot it with swapaccount=1, or without swap"}
	}
	return held("memory cgroup, together with memory")
}

// hold says whether this host gives workspaces a size.
func (d *disks) hold(ctx context.Context) (sandboxclient.Hold, error) {
	able, err := d.able(ctx)
	switch {
	case errors.Is(err, errNoMkfs):
		return sandboxclient.Hold{By: err.Error()}, nil
	case err != nil: // a disk that is full, say: the limit holds again when that has passed
		return sandboxclient.Hold{By: "not at the moment: " + err.Error()}, nil
	case !able:
		return sandboxclient.Hold{By: d.refusal().Error()}, nil
	}
	return held("ext4 of its own in a sparse file, mounted through a loop device"), nil
}

func (d *disks) refusal() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.refused
}
