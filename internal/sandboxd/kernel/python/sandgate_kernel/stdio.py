"""Descriptors 0, 1, 2 and the sys.std* objects on them.

All of it is put back before each cell: the one before may have closed,
redirected or replaced any of it.
"""

import builtins
import io
import os
import select
import sys

from .channel import keep_high

# Nothing that can be printed must make print fail, surrogates included.
ENCODING = {"encoding": "utf-8", "errors": "backslashreplace"}

_builtin_print = builtins.print


class Pipe(io.BufferedIOBase):
    """Writes to a descriptor at once and in full.

    There is no buffer: output streams while the cell runs, keeps its order with
    what C code and children write, and is not doubled by a fork. A child may
    have made the pipe non-blocking; then writing waits.
    """

    def __init__(self, fd, name):
        self._fd = fd
        self.name = name

    def fileno(self):
        return self._fd

    def writable(self):
        return True

    def write(self, data):
        if self.closed:
            raise ValueError("write to closed file")
        rest = memoryview(data).cast("B")
        size = len(rest)
        while rest:
            try:
                rest = rest[os.write(self._fd, rest):]
            except BlockingIOError:
                select.select([], [self._fd], [])
        return size


class Output(io.TextIOWrapper):
    """sys.stdout and sys.stderr."""

    def __init__(self, fd, name):
        super().__init__(Pipe(fd, name), write_through=True, **ENCODING)


def print(*values, sep=" ", end="\n", file=None, flush=False):
    """Prints the values to a stream, or to sys.stdout by default.

    sep    string inserted between values, default a space.
    end    string appended after the last value, default a newline.
    file   a file-like object (stream); defaults to the current sys.stdout.
    flush  whether to forcibly flush the stream.
    """
    # To our own streams the line goes as one write: half the system calls, and
    # lines of several threads do not mix.
    stream = sys.stdout if file is None else file
    if type(stream) is Output and type(sep) is str and type(end) is str:
        stream.write(sep.join([str(value) for value in values]) + end)
    else:
        _builtin_print(*values, sep=sep, end=end, file=file, flush=flush)


print.__module__ = "builtins"


class Stdio:
    """Keeps what descriptors 0, 1 and 2 were, to put them back."""

    def __init__(self):
        self._kept = [keep_high(fd) for fd in (0, 1, 2)]
        self._stdin = self._stdout = self._stderr = None
        self._fed = False
        builtins.print = print
        self.restore(b"")

    def restore(self, stdin):
        """Make the streams as a new cell finds them, with stdin to be read."""
        for fd, kept in enumerate(self._kept):
            os.dup2(kept, fd)
        if stdin:
            _feed(stdin)
        if stdin or self._fed or not _usable(self._stdin, io.BufferedReader):
            self._stdin = _input()
        if not _usable(self._stdout, Pipe):
            self._stdout = Output(1, "<stdout>")
        if not _usable(self._stderr, Pipe):
            self._stderr = Output(2, "<stderr>")
        self._fed = bool(stdin)
        sys.stdin = sys.__stdin__ = self._stdin
        sys.stdout = sys.__stdout__ = self._stdout
        sys.stderr = sys.__stderr__ = self._stderr


def _input():
    raw = io.FileIO(0, "r", closefd=False)
    return io.TextIOWrapper(io.BufferedReader(raw), encoding="utf-8", errors="surrogateescape")


def _usable(stream, buffer):
    """Whether a stream has been neither closed nor taken apart."""
    if stream is None:
        return False
    try:
        return not stream.closed and type(stream.buffer) is buffer
    except ValueError:
        return False


def _feed(data):
    """Let descriptor 0 read data and then its end, here and in children.

    A file rather than a pipe: nobody has to stay to fill it.
    """
    fd = os.memfd_create("stdin")
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(fd, rest):]
        os.lseek(fd, 0, os.SEEK_SET)
        os.dup2(fd, 0)
    finally:
        os.close(fd)
