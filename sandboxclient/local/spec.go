package local

import (
	"math"

	"github.com/moby/profiles/seccomp"
	specs "github.com/opencontainers/runtime-spec/specs-go"

	"sandgate/sandboxclient"
)

const (
	sandboxdPath = "/opt/sandgate/sandboxd" // inside
	hostname     = "sandbox"
	oomScoreAdj  = 500 // sandboxes go before the gateway
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
		Process:  process1(d.engine.kind, s.Limits),
		Mounts:   d.mounts(s),
		Linux: &specs.Linux{
			CgroupsPath: cgroupsPath(s.ID),
			Namespaces:  namespaces(d.engine.kind),
			Resources:   resources(d.engine.kind, s.Limits),
		},
	}
	if d.engine.kind == kindRunsc {
		return spec, nil // its kernel is its own, and reads neither filter nor masks
	}
	spec.Linux.MaskedPaths, spec.Linux.ReadonlyPaths = maskedPaths(), readonlyPaths()
	// The profile's rules depend on the capabilities: last.
	profile, err := seccomp.GetDefaultProfile(spec)
	spec.Linux.Seccomp = profile
	return spec, err
}

// process1 is sandboxd, the sandbox's first process.
func process1(k kind, limits sandboxclient.Limits) *specs.Process {
	return &specs.Process{
		Args:            []string{sandboxdPath},
		Cwd:             "/",
		Env:             []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"},
		NoNewPrivileges: true,
		Capabilities:    capabilities(),
		Rlimits:         rlimits(k, limits),
		OOMScoreAdj:     new(oomScoreAdj),
	}
}

// rlimits are inherited by user code. RLIMIT_NPROC counts per user on the whole
// host, so under runc one sandbox's processes would be another's limit; gVisor
// counts inside.
func rlimits(k kind, limits sandboxclient.Limits) []specs.POSIXRlimit {
	list := []specs.POSIXRlimit{
		rlimit("RLIMIT_NOFILE", limits.OpenFiles),
		rlimit("RLIMIT_CORE", 0),
	}
	if k == kindRunsc {
		list = append(list, rlimit("RLIMIT_NPROC", limits.Processes))
	}
	return list
}

func rlimit(name string, n int) specs.POSIXRlimit {
	return specs.POSIXRlimit{Type: name, Soft: uint64(n), Hard: uint64(n)}
}

func namespaces(k kind) []specs.LinuxNamespace {
	list := []specs.LinuxNamespace{
		{Type: specs.PIDNamespace},
		{Type: specs.IPCNamespace},
		{Type: specs.UTSNamespace},
		{Type: specs.MountNamespace},
		{Type: specs.NetworkNamespace}, // a new one, with nothing but loopback
	}
	if k == kindRunc {
		list = append(list, specs.LinuxNamespace{Type: specs.CgroupNamespace})
	}
	return list
}

const (
	cpuPeriod = 100_000 // microseconds

	// A cgroup that runs out of pids kills gVisor's kernel, so there it is a
	// backstop behind RLIMIT_NPROC: 1.6 to 2.4 host tasks were seen per task inside.
	runscTaskFactor = 8
	// Under runc the cgroup is the limit; sandboxd's own threads come on top.
	runcTaskSlack = 64
)

func resources(k kind, limits sandboxclient.Limits) *specs.LinuxResources {
	tasks := int64(limits.Processes) + runcTaskSlack
	if k == kindRunsc {
		tasks = int64(limits.Processes) * runscTaskFactor
	}
	r := &specs.LinuxResources{
		Devices: []specs.LinuxDeviceCgroup{{Allow: false, Access: "rwm"}},
		Memory:  &specs.LinuxMemory{Limit: &limits.MemoryBytes},
		CPU: &specs.LinuxCPU{
			Quota:  new(int64(math.Ceil(limits.CPUs * cpuPeriod))),
			Period: new(uint64(cpuPeriod)),
		},
		Pids: &specs.LinuxPids{Limit: &tasks},
	}
	if swapIsAccounted() {
		r.Memory.Swap = &limits.MemoryBytes // memory and swap together: none
	}
	return r
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
