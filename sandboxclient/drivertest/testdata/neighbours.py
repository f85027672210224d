# What one sandbox has is looked for: by itself, and by another sandbox.
import socket

KEY = 7777


def marked():
    """The process that stands there."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if b"neighbour-" b"marker" in read("/proc/%s/cmdline" % pid):
                found.append(int(pid))
        except OSError:
            pass
    return absent([pid for pid in found if pid not in (os.getpid(), os.getppid())])


def connect(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as s:
        s.settimeout(1)
        return s.connect(address)


def ask(address):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.settimeout(2)
        s.connect(address)
        s.send(b"ask")
        return s.recv(100)


def look(name, what):
    wall(name, what, what)


look("processes", marked)
look("memory", lambda: read("/proc/%d/maps" % marked()[0]))
look("environment", lambda: read("/proc/%d/environ" % marked()[0]))
look("signals", lambda: os.kill(marked()[0], 0))
for folder in "/workspace", "/tmp", "/dev/shm", "/home/sandbox":
    look("files in " + folder, lambda: read(folder + "/secret"))
look("TCP", lambda: connect(socket.AF_INET, ("127.0.0.1", KEY)))
look("IPv6", lambda: connect(socket.AF_INET6, ("::1", KEY)))
look("UDP", lambda: ask(("127.0.0.1", KEY)))
for path in "\0neighbour", "/workspace/socket", "/tmp/socket":
    look("socket " + path.replace("\0", "@"), lambda: connect(socket.AF_UNIX, path))
look("shared memory", lambda: call("shmget", KEY, 4096, 0o666))
look("semaphores", lambda: call("semget", KEY, 1, 0o666))
look("queues", lambda: call("msgget", KEY, 0o666))
finish()
