# Arguments: a file of the host's that everybody there may read, and the state
# directory.
host, state = sys.argv[1:]

wall("the host's files", lambda: read("/etc/passwd"), lambda: read(host))
wall("the state directory", lambda: os.listdir("/workspace"), lambda: os.listdir(state))
wall("the host's accounts", lambda: read("/etc/group"), lambda: read("/etc/shadow"))
wall("the host's home", lambda: os.listdir("/home/sandbox"), lambda: absent(os.listdir("/root")))
wall("out through a process's root", lambda: read("/proc/self/root/etc/passwd"), lambda: read("/proc/self/root" + host))
wall("out through the first process", lambda: os.listdir("/proc/self/root/etc"), lambda: os.listdir("/proc/1/root/etc"))
wall("out by ..", lambda: os.stat("/workspace/.."), lambda: read("/workspace/" + "../" * 30 + host))

wall("programs are read-only", lambda: create("/workspace/x"), lambda: create("/usr/x"))
wall("libraries are read-only", lambda: create("/tmp/x"), lambda: create("/usr/lib/x"))
wall("settings are read-only", lambda: create("/home/sandbox/x"), lambda: create("/etc/x"))
wall("the root is read-only", lambda: create("/dev/shm/x"), lambda: create("/x"))
wall("sandboxd is read-only", lambda: read("/opt/sandgate/sandboxd"), lambda: write("/opt/sandgate/sandboxd"))


def own(name):
    path = "/workspace/" + name
    write_all(path)
    return path


def write_all(path):
    with open(path, "w") as f:
        f.write("x")


wall("overwriting what is there", lambda: write(own("a")), lambda: write("/usr/bin/env"))
wall("removing what is there", lambda: os.unlink(own("a")), lambda: os.unlink("/usr/bin/env"))
wall("renaming what is there", lambda: os.rename(own("a"), "/workspace/b"), lambda: os.rename("/usr/bin/env", "/usr/bin/env2"))
wall("modes of what is there", lambda: os.chmod(own("a"), 0o777), lambda: os.chmod("/usr/bin/env", 0o4777))
wall("owners of what is there", lambda: os.chown(own("a"), 20000, 20000), lambda: os.chown("/usr/bin/env", 20000, 20000))
wall("times of what is there", lambda: os.utime(own("a")), lambda: os.utime("/usr/bin/env"))
wall("giving files away", lambda: os.chown(own("a"), -1, 20000), lambda: os.chown(own("a"), 0, 0))
wall("truncating the running sandboxd", lambda: os.truncate(own("a"), 0), lambda: os.truncate("/proc/1/exe", 0))
wall("attributes", lambda: os.setxattr(own("a"), "user.x", b"x"), lambda: os.setxattr("/usr/bin/env", "user.x", b"x"))
wall("capabilities of files", lambda: own("a"), lambda: os.setxattr(own("a"), "security.capability", bytes.fromhex("0100000200e0ffff00e0ffff0000000000000000")))

wall("the gateway's link", lambda: os.listdir("/run"), lambda: os.listdir("/run/sandgate"))
wall("the token", lambda: read("/etc/hostname"), lambda: read("/run/sandgate/token"))
wall("the token, by its time", lambda: os.stat("/run"), lambda: os.stat("/run/sandgate/token"))
wall("writing to the link", lambda: create("/tmp/x"), lambda: create("/run/sandgate/x"))
wall("what the workspace's disk keeps", lambda: os.listdir("/workspace"), lambda: absent([n for n in os.listdir("/workspace") if n == "lost+found"]))


def handle(path, opened):
    """Opens by a handle, as a well-known escape did: it goes around every path."""
    buffer, mount = ctypes.create_string_buffer(136), ctypes.c_int()
    ctypes.memmove(buffer, (128).to_bytes(4, sys.byteorder), 4)
    call("name_to_handle_at", -100, path, buffer, ctypes.byref(mount), 0)
    directory = os.open("/workspace", os.O_RDONLY)
    return call("open_by_handle_at", directory, buffer, os.O_RDONLY) if opened else 0


wall("opening by handle", lambda: os.open("/workspace", os.O_RDONLY), lambda: handle(b"/workspace", True))
finish()
