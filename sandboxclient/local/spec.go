package local

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	specs "github.com/opencontainers/runtime-spec/specs-go"

	"sandgate/sandboxclient"
	"sandgate/sandboxclient/wire"
)

const (
	sandboxdPath = "/opt/sandgate/sandboxd" // inside
	hostname     = "sandbox"
)

// capabilities are what sandboxd needs to start programs as the sandbox user,
// to end them and to tend their files. User code gets none.
func capabilities() *specs.LinuxCapabilities {
	set := []string{"CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_KILL", "CAP_SETGID", "CAP_SETUID"}
	return &specs.LinuxCapabilities{Bounding: set, Effective: set, Permitted: set}
}

// spec is the sandbox in the words of the OCI runtime specification.
func (d *Driver) spec(s sandboxclient.Spec) (*specs.Spec, error) {
	spec := &specs.Spec{
		Version:  specs.Version,
		Hostname: hostname,
		Root:     &specs.Root{Path: d.root, Readonly: true},
		Process:  firstProcess(s.Limits),
		Mounts:   d.mounts(s),
		Linux: &specs.Linux{
			CgroupsPath: cgroupsPath(instance(s.ID)),
			Namespaces:  namespaces(),
			Resources:   resources(s.Limits),
		},
	}
	if d.engine.kind == kindRunsc {
		spec.Linux.Resources.Pids.Limit = new(runscTasks(s.Limits))
		spec.Process.Env = append(spec.Process.Env, fmt.Sprintf("%s=%d", wire.MemoryVariable, s.Limits.MemoryBytes))
		return spec, nil
	}
	return spec, shareKernel(spec)
}

// shareKernel adds what a runtime needs that keeps the host's kernel between the
// sandbox and the host; gVisor's kernel is the sandbox's own.
func shareKernel(spec *specs.Spec) error {
	// In a user namespace capabilities reach the sandbox and no further, and
	// RLIMIT_NPROC counts this sandbox's processes alone. Ids stay what they are:
	// files in the workspace belong to the same user on both sides.
	ids := []specs.LinuxIDMapping{
		{ContainerID: 0, HostID: 0, Size: 1},
		{ContainerID: sandboxUID, HostID: sandboxUID, Size: 1},
	}
	spec.Linux.UIDMappings, spec.Linux.GIDMappings = ids, ids
	spec.Linux.Namespaces = append(spec.Linux.Namespaces,
		specs.LinuxNamespace{Type: specs.UserNamespace},
		specs.LinuxNamespace{Type: specs.CgroupNamespace},
	)
	spec.Linux.MaskedPaths, spec.Linux.ReadonlyPaths = maskedPaths(), readonlyPaths()
	var err error
	spec.Linux.Seccomp, err = filter(spec)
	return err
}

// firstProcess is sandboxd.
func firstProcess(limits sandboxclient.Limits) *specs.Process {
	return &specs.Process{
		Args:            []string{sandboxdPath},
		Cwd:             "/",
		Env:             []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"},
		NoNewPrivileges: true,
		Capabilities:    capabilities(),
		OOMScoreAdj:     new(oomScoreAdj()),
		// Inherited by user code. Root is not held by RLIMIT_NPROC: sandboxd can
		// always start what it needs.
		Rlimits: []specs.POSIXRlimit{
			rlimit("RLIMIT_NOFILE", limits.OpenFiles),
			rlimit("RLIMIT_NPROC", limits.Processes),
			rlimit("RLIMIT_CORE", 0),
		},
	}
}

// oomScoreAdj has sandboxes go before the gateway when the host's memory runs
// out. A process may always be made likelier to go than it is, but not unlikelier.
func oomScoreAdj() int {
	const ours = 500
	text, err := os.ReadFile("/proc/self/oom_score_adj")
	if err != nil {
		return ours
	}
	gateway, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return ours
	}
	return max(ours, gateway)
}

func rlimit(name string, n int) specs.POSIXRlimit {
	return specs.POSIXRlimit{Type: name, Soft: uint64(n), Hard: uint64(n)}
}

func namespaces() []specs.LinuxNamespace {
	return []specs.LinuxNamespace{
		{Type: specs.PIDNamespace},
		{Type: specs.IPCNamespace},
		{Type: specs.UTSNamespace},
		{Type: specs.MountNamespace},
		{Type: specs.NetworkNamespace}, // a new one, with nothing but loopback
	}
}

const (
	cpuPeriod = 100_000 // microseconds
	taskSlack = 128     // sandboxd's own threads and helpers

	// gVisor was seen to need 1.6 to 2.4 host tasks per task inside, and a cgroup
	// that runs out of them kills its kernel: far away, as a backstop.
	runscTaskFactor = 8
)

func resources(limits sandboxclient.Limits) *specs.LinuxResources {
	r := &specs.LinuxResources{
		Devices: []specs.LinuxDeviceCgroup{{Allow: false, Access: "rwm"}},
		Memory:  &specs.LinuxMemory{Limit: &limits.MemoryBytes},
		CPU: &specs.LinuxCPU{
			Quota:  new(int64(math.Ceil(limits.CPUs * cpuPeriod))),
			Period: new(uint64(cpuPeriod)),
		},
		Pids: &specs.LinuxPids{Limit: new(int64(limits.Processes) + taskSlack)},
	}
	if swapIsAccounted() {
		r.Memory.Swap = &limits.MemoryBytes // memory and swap together: no swap
	}
	return r
}

func runscTasks(limits sandboxclient.Limits) int64 {
	return (int64(limits.Processes) + taskSlack) * runscTaskFactor
}

// maskedPaths and readonlyPaths are Docker's.
func maskedPaths() []string {
	return []string{
		"/proc/acpi", "/proc/asound", "/proc/interrupts", "/proc/kcore", "/proc/keys",
		"/proc/latency_stats", "/proc/sched_debug", "/proc/scsi", "/proc/timer_list",
		"/proc/timer_stats", "/sys/devices/virtual/powercap", "/sys/firmware",
	}
}

func readonlyPaths() []string {
	return []string{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"}
}
