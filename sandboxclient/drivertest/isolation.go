package drivertest

import (
	"net"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"sandgate/sandboxclient"
)

// A kernel of the sandbox's own may allow what changes nothing outside. These
// are the things that gVisor's does.
var (
	ownProcesses = []string{"sandboxd's fdinfo", "sandboxd's ns", "living longer than sandboxd"}
	ownDevices   = []string{"devices that nobody needs", "/dev/fuse", "/dev/net/tun"}
	ownKernel    = []string{"the log", "priority over others"}
)

func checkFiles(r *rig) {
	r.stands(r.walls(r.start(), "files", r.hostFile("host"), r.state))
}

func checkIdentity(r *rig) { r.stands(r.walls(r.start(), "identity")) }

func checkProcesses(r *rig) {
	r.stands(r.walls(r.start(), "processes", strconv.Itoa(os.Getpid())), r.ifOwnKernel(ownProcesses)...)
}

func checkDevices(r *rig) { r.stands(r.walls(r.start(), "devices"), r.ifOwnKernel(ownDevices)...) }

func checkMounts(r *rig) { r.stands(r.walls(r.start(), "mounts")) }

func checkKernel(r *rig) { r.stands(r.walls(r.start(), "kernel"), r.ifOwnKernel(ownKernel)...) }

// checkNamespace is about what user code may make for itself where that is a
// kernel of its own: root over nothing.
func checkNamespace(r *rig) {
	r.stands(r.walls(r.start(), "namespace"), r.ifOwnKernel([]string{"a user namespace"})...)
}

// ifOwnKernel gives excuses that only a kernel of the sandbox's own has.
func (r *rig) ifOwnKernel(excuses []string) []string {
	r.Helper()
	describer, ok := r.driver.(sandboxclient.Describer)
	if !ok {
		return nil
	}
	engine, err := describer.Describe(r.ctx())
	if err != nil {
		r.Fatal(err)
	}
	if !engine.OwnKernel {
		return nil
	}
	return excuses
}

func checkNetwork(r *rig) {
	id := r.start()
	everywhere := listen(r, "tcp", ":0")
	loopback := listen(r, "tcp", "127.0.0.1:0")
	abstract := listen(r, "unix", "@sandgate-drivertest-"+filepath.Base(r.state))
	path := filepath.Join(filepath.Dir(r.hostFile("")), "socket")
	listen(r, "unix", path)
	r.stands(r.walls(id, "network", hostAddress(r), port(everywhere), port(loopback), port(r.echoes()),
		abstract.String()[1:], path))
}

func port(a net.Addr) string {
	_, text, _ := net.SplitHostPort(a.String())
	return text
}

// echoes answers datagrams on the host, at all its addresses, until the check ends.
func (r *rig) echoes() net.Addr {
	r.Helper()
	conn, err := new(net.ListenConfig).ListenPacket(r.ctx(), "udp", ":0")
	if err != nil {
		r.Fatal(err)
	}
	done := make(chan struct{})
	r.Cleanup(func() { _ = conn.Close(); <-done })
	go func() { // ends with the connection
		defer close(done)
		for buffer := make([]byte, 100); ; {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			_, _ = conn.WriteTo(buffer[:n], from)
		}
	}()
	return conn.LocalAddr()
}

// listen answers on the host until the check ends, and proves that it can be reached there.
func listen(r *rig, network, address string) net.Addr {
	r.Helper()
	l, err := new(net.ListenConfig).Listen(r.ctx(), network, address)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { _ = l.Close() })
	conn, err := new(net.Dialer).DialContext(r.ctx(), network, l.Addr().String())
	if err != nil {
		r.Fatal(err)
	}
	_ = conn.Close()
	return l.Addr()
}

// hostAddress is an address of this host that is not loopback, if there is one.
func hostAddress(r *rig) string {
	r.Helper()
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		r.Fatal(err)
	}
	for _, a := range addresses {
		if ip, ok := a.(*net.IPNet); ok && ip.IP.To4() != nil && !ip.IP.IsLoopback() {
			return ip.IP.String()
		}
	}
	return "127.0.0.1"
}

// checkSetuid puts programs into the workspace that anywhere else would run as
// root, in root's group, or with root's powers.
func checkSetuid(r *rig) {
	r.need(r.cfg.Workspace != nil, "host path of the workspace")
	id := r.start()
	workspace := r.cfg.Workspace(r.state, id)
	for name, mode := range map[string]os.FileMode{"setuid": os.ModeSetuid | 0o755, "setgid": os.ModeSetgid | 0o755} {
		copyProgram(r, "/usr/bin/id", filepath.Join(workspace, name), mode)
	}
	if got := r.must(id, "/workspace/setuid -u; /workspace/setgid -g"); got != "20000\n20000\n" {
		r.Errorf("effective ids of root's programs: %q", got)
	}
	able := filepath.Join(workspace, "able")
	copyProgram(r, "/bin/cat", able, 0o755)
	if err := unix.Setxattr(able, "security.capability", everyCapability, 0); err != nil {
		r.Fatal(err)
	}
	if got := r.must(id, "/workspace/able /proc/self/status | grep CapEff"); got != "CapEff:\t0000000000000000\n" {
		r.Errorf("capabilities of a program that has them: %q", got)
	}
}

// everyCapability is what setcap =ep writes: version 2, effective, and all bits
// permitted.
var everyCapability = []byte("\x01\x00\x00\x02" + "\xff\xff\xff\xff\x00\x00\x00\x00" + "\xff\xff\xff\xff\x00\x00\x00\x00")

// copyProgram puts root's program where the sandbox finds it.
func copyProgram(r *rig, from, to string, mode os.FileMode) {
	r.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		r.Fatal(err)
	}
	if err := os.WriteFile(to, data, 0o755); err != nil {
		r.Fatal(err)
	}
	if err := os.Chmod(to, mode); err != nil {
		r.Fatal(err)
	}
}
