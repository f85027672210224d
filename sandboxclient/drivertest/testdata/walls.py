# What the probes share. A wall is shown by a pair: what is allowed proves that
# the refusal is no accident of the means. Each pair is a line of three fields:
# its name, what came of the one, what came of the other.
import ctypes
import errno
import os
import resource
import signal
import sys

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p


class Refused(Exception):
    """What should not be there is not."""


def absent(found):
    """Refuses when nothing was found."""
    if not found:
        raise Refused("nothing")
    return found


def call(name, *args):
    """Calls the C library, and raises what it says."""
    result = getattr(libc, name)(*args)
    if result is None or result < 0:
        raise OSError(ctypes.get_errno(), name)
    return result


def syscall(number, *args):
    """Makes a system call by its number."""
    libc.syscall.restype = ctypes.c_long
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) if isinstance(a, int) else a for a in args])
    if result < 0:
        raise OSError(ctypes.get_errno(), "system call %d" % number)
    return result


def read(path):
    with open(path, "rb") as f:
        return f.read(4096)


def write(path, data=b"x"):
    fd = os.open(path, os.O_WRONLY)
    try:
        return os.write(fd, data)
    finally:
        os.close(fd)


def create(path):
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT))
    os.unlink(path)


def higher(limit):
    """Raises a limit above what it may be."""
    try:
        resource.setrlimit(limit, (1 << 20, 1 << 20))
    except ValueError as e:
        raise Refused(e) from None


def attempt(what):
    """Tries something in a process of its own, which may do and suffer anything."""
    r, w = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(10)
        os.write(w, outcome(what).encode(errors="replace")[:300])
        os._exit(0)
    os.close(w)
    with os.fdopen(r, "rb") as f:
        text = f.read().decode()
    _, status = os.waitpid(child, 0)
    return text or "refused: ended by signal %d" % os.WTERMSIG(status)


def outcome(what):
    try:
        return "done: %.100r" % (what(),)
    except Refused as e:
        return "refused: %s" % e
    except TimeoutError:
        return "refused: no answer"
    except OSError as e:
        return "refused: %s" % errno.errorcode.get(e.errno, e)
    except BaseException as e:
        return "broken: %s: %s" % (type(e).__name__, e)


def wall(name, allowed, refused):
    print(name, attempt(allowed), attempt(refused), sep="\t", flush=True)


def finish():
    print("finished")
