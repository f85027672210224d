package local

import (
	"fmt"

	specs "github.com/opencontainers/runtime-spec/specs-go"

	"sandgate/sandboxclient"
	"sandgate/sandboxclient/wire"
)

// User code runs as this user and group inside.
const (
	sandboxUID = 20000
	sandboxGID = 20000
)

// ownTrees are where a sandbox's own directories of the host are mounted.
func ownTrees() []string { return []string{wire.LinkDir, "/workspace"} }

const runBytes = 16 << 20 // of /run, where only root writes

// mounts are the sandbox's file systems, in mount order.
func (d *Driver) mounts(s sandboxclient.Spec) []specs.Mount {
	list := []specs.Mount{
		{Destination: "/proc", Type: "proc", Source: "proc", Options: []string{"nosuid", "noexec", "nodev"}},
		{Destination: "/sys", Type: "sysfs", Source: "sysfs", Options: []string{"nosuid", "noexec", "nodev", "ro"}},
		tmpfs("/dev", runBytes, "mode=755", "noexec"),
		{Destination: "/dev/pts", Type: "devpts", Source: "devpts",
			Options: []string{"nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"}},
		tmpfs("/dev/shm", s.Limits.TmpBytes, "mode=1777", "nodev", "noexec"),
		tmpfs("/run", runBytes, "mode=755", "nodev"),
		tmpfs("/tmp", s.Limits.TmpBytes, "mode=1777", "nodev"),
		tmpfs("/home/sandbox", s.Limits.TmpBytes, "mode=700", "nodev",
			fmt.Sprintf("uid=%d", sandboxUID), fmt.Sprintf("gid=%d", sandboxGID)),
	}
	list = append(list, d.systemMounts()...)
	return append(list,
		bind(d.sandboxd, sandboxdPath, "ro"),
		// Read-only, so that sandboxd can connect there and nothing else.
		bind(d.layout.link(instance(s.ID)), wire.LinkDir, "ro", "noexec"),
		bind(d.layout.workspace(s.ID), "/workspace", "rw"),
	)
}

// systemMounts are what the programs inside come from.
func (d *Driver) systemMounts() []specs.Mount {
	if d.hostUsr {
		return []specs.Mount{
			bind("/usr", "/usr", "ro"),
			bind(d.layout.etc(), "/etc", "ro", "noexec"),
		}
	}
	// An image brings its own /etc; who is who is ours.
	var list []specs.Mount
	for _, name := range identityFiles() {
		list = append(list, bind(d.layout.etc()+"/"+name, "/etc/"+name, "ro", "noexec"))
	}
	return list
}

func bind(source, destination string, options ...string) specs.Mount {
	return specs.Mount{
		Destination: destination, Type: "bind", Source: source,
		Options: append([]string{"rbind", "rprivate", "nosuid", "nodev"}, options...),
	}
}

func tmpfs(destination string, size int64, options ...string) specs.Mount {
	return specs.Mount{
		Destination: destination, Type: "tmpfs", Source: "tmpfs",
		Options: append([]string{"nosuid", fmt.Sprintf("size=%d", size)}, options...),
	}
}
