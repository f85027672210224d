# Where user code may make a user namespace, it is root there, and over nothing
# that was there before.
import socket

MS_RDONLY, MS_REMOUNT, MS_BIND = 1, 32, 4096
NEWNS, NEWUSER = 0x20000, 0x10000000
uid, gid = os.getuid(), os.getgid()


def enter():
    call("unshare", NEWUSER | NEWNS)
    write("/proc/self/setgroups", b"deny")
    write("/proc/self/uid_map", b"0 %d 1" % uid)
    write("/proc/self/gid_map", b"0 %d 1" % gid)
    return {0: "root"}[os.getuid()]


def mount(source, target, kind, flags=0):
    return call("mount", source, target, kind, ctypes.c_ulong(flags), None)


def within(name, what):
    """A wall that is tried as the namespace's root, who can mount a disk there."""
    wall(name, lambda: (enter(), mount(b"none", b"/tmp", b"tmpfs")), lambda: (enter(), what()))


def after(*steps):
    """The last of the steps counts; those before may fail."""
    def walk():
        for step in steps[:-1]:
            try:
                step()
            except OSError:
                pass
        return steps[-1]()
    return walk


def bound(source):
    """Looks at a directory through a mount of its own."""
    os.makedirs("/workspace/bound", exist_ok=True)
    mount(source, b"/workspace/bound", None, MS_BIND)
    return os.listdir("/workspace/bound")


wall("a user namespace", os.getuid, enter)
if attempt(enter).startswith("done"):
    within("the token", lambda: read("/run/sandgate/token"))
    within("the link, mounted elsewhere", lambda: bound(b"/run/sandgate"))
    within("the link, uncovered", after(lambda: call("umount2", b"/run/sandgate", 2), lambda: absent(os.listdir("/run/sandgate"))))
    within("programs", after(lambda: mount(b"none", b"/usr", None, MS_REMOUNT | MS_BIND), lambda: create("/usr/x")))
    within("programs, remounted", after(lambda: mount(b"none", b"/usr", None, MS_REMOUNT), lambda: create("/usr/x")))
    within("sandboxd", after(lambda: mount(b"none", b"/opt/sandgate", None, MS_REMOUNT | MS_BIND), lambda: write("/opt/sandgate/sandboxd")))
    within("the root", after(lambda: mount(b"none", b"/", None, MS_REMOUNT | MS_BIND), lambda: create("/x")))
    within("settings", after(lambda: mount(b"none", b"/etc", None, MS_REMOUNT | MS_BIND), lambda: create("/etc/x")))
    within("sandboxd's environment", lambda: read("/proc/1/environ"))
    within("sandboxd's memory", lambda: read("/proc/1/mem"))
    within("sandboxd's descriptors", lambda: os.listdir("/proc/1/fd"))
    within("ending sandboxd", lambda: os.kill(1, signal.SIGKILL))
    within("tracing sandboxd", lambda: call("ptrace", 16, 1, 0, 0))
    within("sandboxd's mounts", lambda: call("setns", os.open("/proc/1/ns/mnt", os.O_RDONLY), 0))
    within("sandboxd's rights", lambda: call("setns", os.open("/proc/1/ns/user", os.O_RDONLY), 0))
    within("devices", lambda: os.mknod("/workspace/device", 0o60666, os.makedev(8, 0)))
    within("the host's memory", lambda: os.open("/dev/mem", os.O_RDONLY))
    within("the sandbox's name", lambda: socket.sethostname("x"))
    within("raw packets", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP))
    within("packets of the wire", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0x300))
    within("root's files", lambda: os.chown("/etc/hostname", 0, 0))
    within("giving files to the real root", lambda: (create("/workspace/x"), os.chown("/workspace", 1, 1)))
    within("becoming another", lambda: os.setuid(1))
    within("more open files", lambda: higher(resource.RLIMIT_NOFILE))
    within("modules", lambda: call("syscall", 175, b"", 0, b""))
    within("another kernel's settings", lambda: write("/proc/sys/kernel/hostname", b"x"))
    within("disk quotas and swaps", lambda: call("swapon", b"/workspace/swap", 0))
finish()
