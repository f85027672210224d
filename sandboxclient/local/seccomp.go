package local

import (
	"slices"

	"github.com/moby/profiles/seccomp"
	specs "github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"
)

// socketFamilies are what programs use. Whatever else the host's kernel knows
// is code that nobody inside needs, and that a module brings on demand.
var socketFamilies = []uint64{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}

// filter is Docker's profile, whose rules depend on the capabilities, with fewer
// kinds of sockets. socketcall goes with them: it hides from a filter which kind
// is asked for, and only 32-bit programs make sockets by it.
func filter(spec *specs.Spec) (*specs.LinuxSeccomp, error) {
	profile, err := seccomp.GetDefaultProfile(spec)
	if err != nil {
		return nil, err
	}
	profile.Syscalls = slices.DeleteFunc(profile.Syscalls, func(s specs.LinuxSyscall) bool {
		return slices.Equal(s.Names, []string{"socket"})
	})
	for i, s := range profile.Syscalls {
		profile.Syscalls[i].Names = slices.DeleteFunc(slices.Clone(s.Names), func(name string) bool { return name == "socketcall" })
	}
	for _, family := range socketFamilies {
		profile.Syscalls = append(profile.Syscalls, specs.LinuxSyscall{
			Names: []string{"socket"}, Action: specs.ActAllow,
			Args: []specs.LinuxSeccompArg{{Index: 0, Value: family, Op: specs.OpEqualTo}},
		})
	}
	return profile, nil
}
