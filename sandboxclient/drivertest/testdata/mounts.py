MS_RDONLY, MS_REMOUNT, MS_BIND, MS_MOVE = 1, 32, 4096, 8192
NEWNS, NEWPID, NEWNET, NEWIPC, NEWUTS = 0x20000, 0x20000000, 0x40000000, 0x08000000, 0x04000000
OPEN_TREE, MOVE_MOUNT, FSOPEN, MOUNT_SETATTR = 428, 429, 430, 442


def mount(source, target, kind, flags=0, data=None):
    return call("mount", source, target, kind, ctypes.c_ulong(flags), data)


def mounts():
    return read("/proc/self/mounts")


wall("a disk of its own", mounts, lambda: mount(b"none", b"/workspace", b"tmpfs"))
wall("processes of its own", mounts, lambda: mount(b"none", b"/workspace", b"proc"))
wall("the kernel's settings", mounts, lambda: mount(b"none", b"/workspace", b"sysfs"))
wall("cgroups", mounts, lambda: mount(b"none", b"/workspace", b"cgroup2"))
wall("the host's disk", mounts, lambda: mount(b"/dev/vda", b"/workspace", b"ext4"))
wall("programs writable", mounts, lambda: mount(b"none", b"/usr", None, MS_REMOUNT | MS_BIND))
wall("the root writable", mounts, lambda: mount(b"none", b"/", None, MS_REMOUNT))
wall("set-user-ID in the workspace", mounts, lambda: mount(b"none", b"/workspace", None, MS_REMOUNT | MS_BIND))
wall("a path over another", mounts, lambda: mount(b"/tmp", b"/etc", None, MS_BIND))
wall("a mount elsewhere", mounts, lambda: mount(b"/run/sandgate", b"/workspace", None, MS_MOVE))
wall("uncovering the link's directory", mounts, lambda: call("umount2", b"/run/sandgate", 2))
wall("uncovering processes", mounts, lambda: call("umount2", b"/proc", 2))
wall("another root", mounts, lambda: call("pivot_root", b"/workspace", b"/workspace"))
wall("a tree of mounts", mounts, lambda: syscall(OPEN_TREE, -100, b"/", 1))
wall("a file system's handle", mounts, lambda: syscall(FSOPEN, b"tmpfs", 0))
wall("moving by handle", mounts, lambda: syscall(MOVE_MOUNT, os.open("/tmp", os.O_PATH), b"", -100, b"/etc", 4))
wall("what a mount allows", mounts, lambda: syscall(MOUNT_SETATTR, -100, b"/usr", 0, bytes(32), 32))

for name, flag in ("mounts", NEWNS), ("processes", NEWPID), ("network", NEWNET), ("queues", NEWIPC), ("host name", NEWUTS):
    wall("a namespace of %s" % name, lambda: os.listdir("/proc/self/ns"), lambda: call("unshare", flag))
for name in os.listdir("/proc/self/ns"):
    wall("sandboxd's namespace: " + name, lambda: os.readlink("/proc/self/ns/" + name), lambda: call("setns", os.open("/proc/1/ns/" + name, os.O_RDONLY), 0))
wall("watching the whole disk", lambda: call("inotify_init1", 0), lambda: call("fanotify_init", 0, 0))
wall("swapping", lambda: os.sync(), lambda: call("swapon", b"/workspace/swap", 0))
wall("accounting", lambda: os.times(), lambda: call("acct", b"/workspace/acct"))
wall("quotas", lambda: os.statvfs("/workspace"), lambda: call("quotactl", 0x80000100, b"/dev/vda", 0, 0))
finish()
