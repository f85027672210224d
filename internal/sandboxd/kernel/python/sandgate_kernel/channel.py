"""Frames to and from sandboxd: one JSON object a line, described in doc.go.

The two descriptors are moved up and closed on exec at once, so no program that
a cell starts inherits them. A fork does; it must stay silent, which is why each
frame carries the pid of its writer.
"""

import fcntl
import json
import os
import sys
from _thread import allocate_lock

from . import errors

REQUESTS_FD = 3
REPLIES_FD = 4

# Where the kernel keeps its descriptors, out of the way of the user's.
HIGH_FD = 200

# A longer frame would be sandboxd's reason to end the kernel.
MAX_FRAME = 16 << 20

_encode = json.JSONEncoder(separators=(",", ":")).encode


def keep_high(fd):
    """Give a copy of fd that no exec inherits, where few would look for it."""
    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, HIGH_FD)


class Channel:
    """The kernel's end of the channel. `cell` is the id that replies carry."""

    def __init__(self, interrupt):
        self._requests = os.fdopen(self._take(REQUESTS_FD), "rb")
        self._replies = self._take(REPLIES_FD)
        self._interrupt = interrupt
        self._lock = allocate_lock()
        self.pid = os.getpid()
        self.cell = 0

    @staticmethod
    def _take(fd):
        high = keep_high(fd)
        os.close(fd)
        return high

    def receive(self):
        """Wait for the next request; None when sandboxd has closed its end."""
        while True:
            try:
                line = self._requests.readline()
            except BaseException as exc:
                self._check()
                errors.print_to(sys.stderr, exc)  # a signal handler of the user's
            else:
                return json.loads(line) if line else None

    def _check(self):
        try:
            os.fstat(self._requests.fileno())
        except (OSError, ValueError):
            _lost()

    def send(self, kind, **fields):
        """Send a reply, unless this is a process that a cell has forked."""
        if os.getpid() != self.pid:
            return
        rest = _fields(fields)
        if len(rest) > MAX_FRAME:
            rest = _fields(_shortened(fields))
        # An interrupt must not leave half a frame behind. The newline in front
        # ends whatever somebody else may have written here.
        frame = f'\n{{"id":{self.cell},"pid":{self.pid},"type":"{kind}"{rest}\n'
        with self._interrupt.deferred(), self._lock:
            self._write(frame.encode("ascii"))

    def _write(self, data):
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self._replies, rest):]
        except OSError:
            _lost()


def _lost():
    """End the process: a cell has closed descriptors that are not its own."""
    os.write(2, b"The control channel is closed, the kernel ends.\n")
    os._exit(1)


def _fields(fields):
    """Encode what follows in an object that has been opened."""
    return "," + _encode(fields)[1:] if fields else "}"


def _shortened(fields):
    """Keep of a result its text alone, and say what is missing; of an exception
    its name."""
    if "result" not in fields:
        error = fields.get("error")
        return {**fields, "error": {"name": error["name"], "message": "", "traceback": []}} if error else {}
    result = fields["result"]
    dropped = fields["dropped"] + [name for name in result if name != "text"]
    return {"result": {"text": result["text"]}, "dropped": dropped}
