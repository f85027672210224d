package local

import (
	"slices"
	"strings"
	"testing"

	specs "github.com/opencontainers/runtime-spec/specs-go"

	"sandgate/sandboxclient"
)

const testID = sandboxclient.ID("abcdefghijklmnopqrstuvwxyz")

// makeSpec gives the bundle that a driver of the kind would write.
func makeSpec(t *testing.T, k kind) *specs.Spec {
	t.Helper()
	d := &Driver{layout: layout{"/state"}, engine: newEngine(k, string(k), "/state/run"), sandboxd: "/bin/sandboxd", root: "/root", hostUsr: true}
	spec, err := d.spec(sandboxclient.Spec{ID: testID, Limits: sandboxclient.DefaultLimits()})
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

func eachKind(t *testing.T, check func(t *testing.T, spec *specs.Spec)) {
	for _, k := range []kind{kindRunsc, kindRunc} {
		t.Run(string(k), func(t *testing.T) { check(t, makeSpec(t, k)) })
	}
}

func TestSpec_privileges(t *testing.T) {
	eachKind(t, func(t *testing.T, spec *specs.Spec) {
		if !spec.Process.NoNewPrivileges || !spec.Root.Readonly || spec.Process.Terminal {
			t.Error("new privileges, a writable root or a terminal")
		}
		caps := spec.Process.Capabilities
		if len(caps.Inheritable)+len(caps.Ambient) != 0 {
			t.Error("user code would inherit capabilities")
		}
		for _, power := range []string{"CAP_SYS_ADMIN", "CAP_SYS_PTRACE", "CAP_NET_ADMIN", "CAP_NET_RAW", "CAP_MKNOD", "CAP_SYS_RESOURCE", "CAP_SETPCAP"} {
			if slices.Contains(caps.Bounding, power) {
				t.Errorf("sandboxd has %s", power)
			}
		}
	})
}

func TestSpec_namespacesAreNew(t *testing.T) {
	eachKind(t, func(t *testing.T, spec *specs.Spec) {
		for _, want := range []specs.LinuxNamespaceType{
			specs.PIDNamespace, specs.IPCNamespace, specs.UTSNamespace, specs.MountNamespace, specs.NetworkNamespace,
		} {
			if !slices.Contains(spec.Linux.Namespaces, specs.LinuxNamespace{Type: want}) { // no path: nobody else's
				t.Errorf("no new %s namespace", want)
			}
		}
	})
}

func TestSpec_mounts(t *testing.T) {
	eachKind(t, func(t *testing.T, spec *specs.Spec) {
		for _, m := range spec.Mounts {
			if !slices.Contains(m.Options, "nosuid") {
				t.Errorf("%s honours setuid", m.Destination)
			}
			if m.Type == "bind" && m.Destination != "/workspace" && !slices.Contains(m.Options, "ro") {
				t.Errorf("the host's %s can be written", m.Source)
			}
			sized := func(o string) bool { return strings.HasPrefix(o, "size=") }
			if m.Type == "tmpfs" && !slices.ContainsFunc(m.Options, sized) {
				t.Errorf("%s has no bound", m.Destination)
			}
		}
	})
}

func TestSpec_limits(t *testing.T) {
	limits := sandboxclient.DefaultLimits()
	eachKind(t, func(t *testing.T, spec *specs.Spec) {
		r := spec.Linux.Resources
		if *r.Memory.Limit != limits.MemoryBytes || swapIsAccounted() && *r.Memory.Swap != limits.MemoryBytes {
			t.Error("memory and swap are not held together")
		}
		if float64(*r.CPU.Quota)/float64(*r.CPU.Period) != limits.CPUs {
			t.Error("the share of processor time is another")
		}
		if *r.Pids.Limit <= int64(limits.Processes) {
			t.Error("the cgroup's limit would take sandboxd's own threads")
		}
		if !slices.Contains(spec.Process.Rlimits, rlimit("RLIMIT_NPROC", limits.Processes)) {
			t.Error("processes are not held")
		}
	})
}

func TestSpec_sharedKernel(t *testing.T) {
	spec := makeSpec(t, kindRunc)
	if !slices.Contains(spec.Linux.Namespaces, specs.LinuxNamespace{Type: specs.UserNamespace}) {
		t.Error("no user namespace")
	}
	if len(spec.Linux.MaskedPaths) == 0 || len(spec.Linux.ReadonlyPaths) == 0 {
		t.Error("the host's /proc is open")
	}
	filter := spec.Linux.Seccomp
	if filter.DefaultAction != specs.ActErrno {
		t.Errorf("what the filter does not know is %s", filter.DefaultAction)
	}
	for _, rule := range filter.Syscalls {
		if slices.Contains(rule.Names, "socket") && (len(rule.Args) != 1 || rule.Args[0].Op != specs.OpEqualTo || !slices.Contains(socketFamilies, rule.Args[0].Value)) {
			t.Errorf("the filter allows sockets of %+v", rule.Args)
		}
		for _, name := range rule.Names {
			dangerous := strings.HasPrefix(name, "io_uring") || slices.Contains([]string{"mount", "bpf", "unshare", "kexec_load", "keyctl", "socketcall"}, name)
			if rule.Action == specs.ActAllow && dangerous {
				t.Errorf("the filter allows %s", name)
			}
		}
	}
}
