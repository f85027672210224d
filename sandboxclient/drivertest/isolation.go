package drivertest

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
)

// A wall is shown by a pair: what is allowed proves that the refusal is no
// accident of the means. Both are run as the sandbox user.
type wall struct {
	name    string
	allowed string // exits 0
	refused string // exits other than 0
}

func checkIsolation(r *rig) {
	id := r.start()
	for _, w := range r.walls() {
		if res := r.sh(id, w.allowed); !res.ok() {
			r.Errorf("%s: what should work does not: %s: %s", w.name, w.allowed, res)
		}
		if res := r.sh(id, w.refused); res.ok() {
			r.Errorf("%s: allowed: %s: %s", w.name, w.refused, res)
		}
	}
}

func (r *rig) walls() []wall {
	host := r.hostFile("host")
	return []wall{
		{"the host's files", "cat /etc/passwd", "cat " + host},
		{"the state directory", "ls /workspace", "ls " + r.state},
		{"the host's accounts", "id sandbox", "grep -q . /etc/shadow"},
		{"programs are read-only", "touch /workspace/x", "touch /usr/x"},
		{"settings are read-only", "touch /tmp/x", "touch /etc/x"},
		{"the root is read-only", "touch /home/sandbox/x", "touch /x"},
		{"sandboxd is read-only", "test -x /opt/sandgate/sandboxd", "sh -c ': >> /opt/sandgate/sandboxd'"},
		{"the link is root's", "ls /run", "ls /run/sandgate"},
		{"the token is root's", "cat /etc/hostname", "cat /run/sandgate/token"},

		{"the host's processes", "kill -0 $$", fmt.Sprintf("kill -0 %d || test -d /proc/%[1]d", os.Getpid())},
		{"a PID namespace", "test -d /proc/1", "test $(ls -d /proc/[0-9]* | wc -l) -gt 20"},
		{"sandboxd's memory", "cat /proc/self/environ", "cat /proc/1/environ"},
		{"sandboxd's descriptors", "ls /proc/self/fd", "ls /proc/1/fd"},
		{"signals to sandboxd", "kill -0 $$", "kill -9 1"},
		{"tracing sandboxd", traceChild, python(libc + "sys.exit(libc.ptrace(16, 1, 0, 0) != 0)")},

		{"kernel settings", "cat /proc/sys/kernel/ostype", "echo x > /proc/sys/kernel/hostname"},
		{"the system request key", "test -e /proc/self", "echo h > /proc/sysrq-trigger"},
		{"mounting", "cat /proc/self/mounts", python(libc + `sys.exit(libc.mount(b"none", b"/workspace", b"tmpfs", 0, None) != 0)`)},
		{"devices", "mkfifo /workspace/fifo", python(`os.mknod("/workspace/device", stat.S_IFBLK | 0o666, os.makedev(8, 0))`)},
		{"the host's disks", "echo x > /dev/null", "ls /dev | grep -E '^(sd|vd|nvme|mem$|kmsg|kvm)'"},
		{"io_uring", python(libc + "sys.exit(libc.getpid() < 1)"), python(libc + "sys.exit(libc.syscall(425, 1, ctypes.create_string_buffer(120)) < 0)")},
		{"another root", "cd /workspace", python(`os.chroot("/workspace")`)},
		{"another host name", "uname -n", python(`socket.sethostname("x")`)},
		{"becoming root", python("os.setuid(20000)"), python("os.setuid(0)")},

		{"capabilities", "grep -E '^NoNewPrivs:.1$' /proc/self/status", "grep -E '^Cap(Inh|Prm|Eff|Amb):.*[1-9a-f]' /proc/self/status"},
		{"who user code is", "test $(id -u):$(id -g):$(id -G) = 20000:20000:20000", "id -G | grep -w 0"},
		{"core dumps", "test $(ulimit -c) = 0", "ulimit -c 1"},
		{"inherited descriptors", "ls /proc/self/fd/1", "ls /proc/self/fd | grep -vE '^[0-3]$'"},

		{"network interfaces", "grep -q lo: /proc/net/dev", "tail -n +3 /proc/net/dev | grep -v lo:"},
		{"the outside", loopback, python(connect("169.254.169.254", 80))},
		{"names", "getent hosts localhost", "getent hosts example.com"},
	}
}

const (
	prelude = "import ctypes, os, socket, stat, sys; "
	libc    = "libc = ctypes.CDLL(None, use_errno=True); "
)

// python is a script's line that runs a Python statement.
func python(statement string) string { return "/usr/bin/python3 -c '" + prelude + statement + "'" }

func connect(host string, port int) string {
	return fmt.Sprintf(`socket.create_connection(("%s", %d), 2)`, host, port)
}

var (
	loopback = python(`s = socket.create_server(("127.0.0.1", 0)); socket.create_connection(s.getsockname(), 2)`)

	// traceChild attaches to a child of its own, as a debugger does.
	traceChild = python(libc + "r, w = os.pipe(); p = os.fork(); p or os.read(r, 1); " +
		"n = libc.ptrace(16, p, 0, 0); os.kill(p, 9); sys.exit(n != 0)")
)

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
}

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

func checkHostSockets(r *rig) {
	id := r.start()
	tcp := listen(r, "tcp", "127.0.0.1:0")
	everywhere := listen(r, "tcp", "0.0.0.0:0")
	abstract := listen(r, "unix", "@sandgate-drivertest-"+filepath.Base(r.state))

	for _, dial := range []string{
		connect("127.0.0.1", tcp.(*net.TCPAddr).Port),
		connect(hostAddress(r), everywhere.(*net.TCPAddr).Port),
		`socket.socket(socket.AF_UNIX).connect("\0` + abstract.String()[1:] + `")`,
	} {
		if res := r.sh(id, python(dial)); res.ok() {
			r.Errorf("reached: %s", dial)
		}
	}
	own := python(`s = socket.socket(socket.AF_UNIX); s.bind("\0own"); s.listen(); socket.socket(socket.AF_UNIX).connect("\0own")`)
	r.must(id, loopback)
	r.must(id, own)
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
