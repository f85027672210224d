# Arguments: a process of the host's.
host = int(sys.argv[1])

NULL = 0
PTRACE_ATTACH, PTRACE_SEIZE = 16, 0x4206
PIDFD_SEND_SIGNAL, PIDFD_OPEN, PIDFD_GETFD = 424, 434, 438


def with_child(act):
    """Acts on a child of its own, as a debugger does."""
    r, w = os.pipe()
    child = os.fork()
    if child == 0:
        os.read(r, 1)
        os._exit(0)
    try:
        return act(child)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


kept = ctypes.create_string_buffer(b"secret")


def peek(pid, address=None, write=False):
    """Reads or writes another process's memory."""
    buffer = ctypes.create_string_buffer(6)
    here = Vector(ctypes.addressof(buffer), 6)
    there = Vector(address or ctypes.addressof(kept), 6)
    name = "process_vm_writev" if write else "process_vm_readv"
    return call(name, pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)


# Where sandboxd's own code lies: it is linked to a fixed address.
TEXT = 0x400000


def foreign(kind):
    """The processes that are not ours, of which something can be read."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.stat("/proc/" + pid).st_uid != os.getuid():
                found.append((pid, len(read("/proc/%s/%s" % (pid, kind)))))
        except OSError:
            pass
    return absent(found)


wall("the host's processes", lambda: os.kill(os.getpid(), 0), lambda: os.kill(host, 0))
wall("the host's processes, listed", lambda: os.listdir("/proc/self"), lambda: absent([p for p in os.listdir("/proc") if p.isdigit() and int(p) > 10_000]))
wall("few processes", lambda: os.stat("/proc/1"), lambda: absent(len([p for p in os.listdir("/proc") if p.isdigit()]) > 20))
wall("the first process is sandboxd", lambda: {b"sandboxd\n": 1}[read("/proc/1/comm")], lambda: absent(read("/proc/1/comm") != b"sandboxd\n"))

for kind in "environ", "mem", "maps", "auxv", "syscall", "stack", "io", "smaps", "pagemap", "personality":
    wall("sandboxd's " + kind, lambda: read("/proc/self/environ"), lambda: read("/proc/1/" + kind))
for kind in "fd", "fdinfo", "map_files", "ns", "task/1/fd":
    wall("sandboxd's " + kind, lambda: os.listdir("/proc/self/fd"), lambda: absent(os.listdir("/proc/1/" + kind) if kind != "ns" else os.readlink("/proc/1/ns/mnt")))
for link in "root", "cwd", "exe":
    wall("sandboxd's " + link, lambda: os.readlink("/proc/self/" + link), lambda: os.readlink("/proc/1/" + link))
for kind in "environ", "mem", "maps", "fd/0":
    wall("root's helpers' " + kind, lambda: read("/proc/self/environ"), lambda: foreign(kind))

wall("signals to sandboxd", lambda: with_child(lambda pid: os.kill(pid, signal.SIGSTOP)), lambda: os.kill(1, signal.SIGSTOP))
wall("ending sandboxd", lambda: with_child(lambda pid: os.kill(pid, signal.SIGKILL)), lambda: os.kill(1, signal.SIGKILL))
wall("signals by descriptor", lambda: with_child(lambda pid: syscall(PIDFD_SEND_SIGNAL, syscall(PIDFD_OPEN, pid, 0), 0, NULL, 0)), lambda: syscall(PIDFD_SEND_SIGNAL, syscall(PIDFD_OPEN, 1, 0), 9, NULL, 0))
wall("tracing sandboxd", lambda: with_child(lambda pid: call("ptrace", PTRACE_ATTACH, pid, 0, 0)), lambda: call("ptrace", PTRACE_ATTACH, 1, 0, 0))
wall("seizing sandboxd", lambda: with_child(lambda pid: call("ptrace", PTRACE_SEIZE, pid, 0, 0)), lambda: call("ptrace", PTRACE_SEIZE, 1, 0, 0))
wall("sandboxd's memory", lambda: with_child(peek), lambda: peek(1, TEXT))
wall("writing sandboxd's memory", lambda: with_child(lambda pid: peek(pid, write=True)), lambda: peek(1, TEXT, write=True))
wall("writing it by its file", lambda: write("/proc/self/comm", b"probe"), lambda: write("/proc/1/mem"))
wall("sandboxd's sockets", lambda: os.dup(0), lambda: syscall(PIDFD_GETFD, syscall(PIDFD_OPEN, 1, 0), 0, 0))
wall("sandboxd's priority", lambda: os.setpriority(os.PRIO_PROCESS, 0, 19), lambda: os.setpriority(os.PRIO_PROCESS, 1, 19))
wall("sandboxd's processors", lambda: os.sched_setaffinity(0, os.sched_getaffinity(0)), lambda: os.sched_setaffinity(1, os.sched_getaffinity(0)))
wall("sandboxd's limits", lambda: resource.prlimit(0, resource.RLIMIT_NOFILE), lambda: resource.prlimit(1, resource.RLIMIT_NOFILE, (3, 3)))
wall("sandboxd's end by the host's memory", lambda: write("/proc/self/oom_score_adj", b"1000"), lambda: write("/proc/1/oom_score_adj", b"1000"))
wall("living longer than sandboxd", lambda: read("/proc/self/oom_score_adj"), lambda: write("/proc/self/oom_score_adj", b"-1000"))
finish()
