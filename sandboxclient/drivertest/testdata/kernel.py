# Numbers of system calls on x86-64 and on 64-bit ARM; what ARM lacks has none.
SYSTEM = {
    "add_key": (248, 217), "perf_event_open": (298, 241), "kexec_load": (246, 104), "kexec_file_load": (320, 294),
    "bpf": (321, 280), "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106),
    "userfaultfd": (323, 282), "io_uring_setup": (425, 425), "iopl": (172, -1), "ioperm": (173, -1), "reboot": (169, 142),
    "settimeofday": (164, 170), "syslog": (103, 116), "vhangup": (153, 58), "lookup_dcookie": (212, 18),
    "sethostname": (170, 161), "setdomainname": (171, 162), "migrate_pages": (256, 238),
}
ARM = os.uname().machine == "aarch64"


def system(name, *args):
    return syscall(SYSTEM[name][ARM], *args)


def clock():
    return os.times()


for path in "kernel/hostname", "kernel/core_pattern", "kernel/modprobe", "kernel/randomize_va_space", "kernel/pid_max", "kernel/sysrq", "vm/overcommit_memory", "vm/drop_caches", "fs/file-max", "net/ipv4/ip_forward":
    wall("setting " + path, lambda: read("/proc/sys/kernel/ostype"), lambda: write("/proc/sys/" + path, b"1"))
for path in "/proc/sysrq-trigger", "/proc/kcore", "/proc/kmsg", "/proc/acpi/wakeup", "/proc/kpageflags", "/proc/bus/pci/devices":
    wall("writing " + path, lambda: write("/proc/self/comm", b"probe"), lambda: write(path))
for path in "timer_list", "sched_debug", "keys", "acpi/wakeup", "scsi/scsi", "interrupts":
    wall("reading /proc/" + path, lambda: read("/proc/stat"), lambda: absent(read("/proc/" + path)))
wall("the kernel's memory", lambda: read("/proc/meminfo"), lambda: absent(read("/proc/kcore").strip(b"\0")))
wall("the kernel's addresses", lambda: read("/proc/version"), lambda: absent(any(int(line.split()[0], 16) for line in open("/proc/kallsyms"))))
wall("the kernel's log", lambda: read("/proc/uptime"), lambda: absent(read("/proc/kmsg")))


def writable(top):
    """What below a directory can be written."""
    found = []
    for folder, _, names in os.walk(top):
        for name in names:
            path = os.path.join(folder, name)
            if not os.path.islink(path) and os.access(path, os.W_OK):
                found.append(path)
    return absent(found)


def open_writable(top):
    return absent([path for path in writable(top) if opens(path)])


def opens(path):
    try:
        os.close(os.open(path, os.O_WRONLY))
        return True
    except OSError:
        return False


wall("what /sys lets change", lambda: os.listdir("/workspace"), lambda: open_writable("/sys"))
wall("what /proc/sys lets change", lambda: os.listdir("/proc/sys"), lambda: open_writable("/proc/sys"))
wall("cgroups of its own", lambda: os.rmdir(os.mkdir("/tmp/d") or "/tmp/d"), lambda: os.mkdir("/sys/fs/cgroup/own"))
wall("leaving its cgroup", lambda: read("/proc/self/cgroup"), lambda: write("/sys/fs/cgroup/cgroup.procs", b"0"))

wall("programs in the kernel", clock, lambda: system("bpf", 5, bytes(128), 128))
wall("maps in the kernel", clock, lambda: system("bpf", 0, (2).to_bytes(4, "little") + (4).to_bytes(4, "little") * 3 + bytes(100), 116))
wall("the processor's counters", clock, lambda: system("perf_event_open", (1).to_bytes(4, "little") + (112).to_bytes(4, "little") + bytes(104), 0, -1, -1, 0))
wall("modules", clock, lambda: system("init_module", b"", 0, b""))
wall("modules of a file", clock, lambda: system("finit_module", os.open("/usr/bin/env", os.O_RDONLY), b"", 0))
wall("unloading modules", clock, lambda: system("delete_module", b"loop", 0))
wall("another kernel", clock, lambda: system("kexec_load", 0, 0, 0, 0))
wall("another kernel of a file", clock, lambda: system("kexec_file_load", 0, 0, 0, 0, 0))
wall("restarting", clock, lambda: system("reboot", 0xFEE1DEAD, 672274793, 0x89ABCDEF, 0))
wall("io_uring", clock, lambda: system("io_uring_setup", 1, bytes(120)))
wall("faults handled by programs", clock, lambda: system("userfaultfd", 0))
wall("ports of the hardware", clock, lambda: system("iopl", 3))
wall("some ports of the hardware", clock, lambda: system("ioperm", 0x80, 1, 1))
wall("the log", clock, lambda: system("syslog", 3, bytes(100), 100))
wall("clearing the log", clock, lambda: system("syslog", 5, 0, 0))
wall("the time", clock, lambda: system("settimeofday", bytes(16), 0))
wall("hanging up", clock, lambda: system("vhangup"))
wall("cookies", clock, lambda: system("lookup_dcookie", 0, bytes(10), 10))
wall("another host name", lambda: os.uname(), lambda: system("sethostname", b"x", 1))
wall("another domain name", lambda: os.uname(), lambda: system("setdomainname", b"x", 1))
wall("others' pages", clock, lambda: system("migrate_pages", 1, 8, bytes(8), bytes(8)))
wall("priority over others", lambda: os.nice(1), lambda: os.setpriority(os.PRIO_PROCESS, 0, -20))
wall("real-time priority", lambda: os.sched_getscheduler(0), lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10)))
finish()
