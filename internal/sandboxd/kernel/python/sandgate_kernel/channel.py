"""Frames to and from sandboxd: one JSON object a line, described in doc.go.

The two descriptors are moved up and closed on exec at once, so no program that
a cell starts inherits them. A fork does; it must stay silent, which is why each
frame carries the pid of its writer.
"""

import fcntl
import json
import os
from _thread import allocate_lock

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
        line = self._requests.readline()
        return json.loads(line) if line else None

    def send(self, kind, **fields):
        """Send a reply, unless this is a process that a cell has forked."""
        if os.getpid() != self.pid:
            return
        frame = {"id": self.cell, "pid": self.pid, "type": kind, **fields}
        line = _encode(frame)
        if len(line) > MAX_FRAME:
            line = _encode(_shortened(frame))
        # An interrupt must not leave half a frame behind. The newline in front
        # ends whatever somebody else may have written here.
        with self._interrupt.deferred(), self._lock:
            self._write(("\n" + line + "\n").encode("ascii"))

    def _write(self, data):
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._replies, rest):]


def _shortened(frame):
    """Keep of a result its text alone, and say what is missing."""
    result = dict(frame["result"])
    dropped = frame.get("dropped", []) + [name for name in result if name != "text"]
    return {**frame, "result": {"text": result["text"]}, "dropped": dropped}
