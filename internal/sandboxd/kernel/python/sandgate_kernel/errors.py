"""Exceptions, as the user is told them: without the kernel's own frames.

Whatever an exception does when it is looked at, there is an answer, and it has
an end.
"""

import itertools
import linecache
import os
import traceback

# Files whose frames are nobody's business but ours.
hidden = [os.path.dirname(__file__) + os.sep]

# A deep stack keeps both ends.
DEEPEST = 10000
FRAMES_AT_EACH_END = 40

# What is told of one exception. sandboxd would pass on no more of it.
MAX_NAME = 256
MAX_MESSAGE = 64 << 10
MAX_LINES = 1000
MAX_TRACEBACK = 256 << 10
MAX_LINE_NUMBER = 1 << 31


def describe(exc, cell):
    """Give the name, message, traceback and line of what ended a cell."""
    return {
        "name": _name(exc),
        "message": _message(exc),
        "traceback": _farewell(exc) if isinstance(exc, SystemExit) else lines(exc),
        "lineNumber": _line(exc, cell),
    }


def bare(exc):
    """Describe an exception without looking at it any closer."""
    return {"name": _name(exc), "message": "", "traceback": [_name(exc)], "lineNumber": 0}


def brief(exc):
    """Tell an exception in one line."""
    return f"{_name(exc)}: {_message(exc)}".rstrip(": ")


def lines(exc):
    """Format an exception as Python prints it."""
    try:
        told = traceback.TracebackException(
            type(exc), exc, exc.__traceback__, limit=-DEEPEST, lookup_lines=False
        )
        _trim(told)
        _quote(told)
        return _bounded(line for part in told.format() for line in part.splitlines())
    except Exception:  # one that cannot even be looked at
        return [_name(exc)]


def _bounded(text):
    """Keep the first lines, of many or of long ones."""
    kept, room = [], MAX_TRACEBACK
    for line in itertools.islice(text, MAX_LINES):
        kept.append(_cut(line, room))
        room -= len(kept[-1]) + 1
        if room <= 0:
            break
    return kept


def _cut(text, size):
    """Cut a text, which may be of a type of the user's that answers anything."""
    return str.__str__(text)[:size]


def print_to(stream, exc):
    stream.write("\n".join(lines(exc)) + "\n")


class _Stack(traceback.StackSummary):
    def format(self, **options):
        entries = super().format(**options)
        left_out = len(entries) - 2 * FRAMES_AT_EACH_END
        if left_out > 0:
            gap = f"  ... {left_out} frames left out ...\n"
            entries[FRAMES_AT_EACH_END:-FRAMES_AT_EACH_END] = [gap]
        return entries


def _trim(told):
    """Leave the user's frames in told, in its causes and in the members of a group."""
    pending, seen = [told], set()
    while pending:
        one = pending.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        one.stack = _Stack(_users(one.stack))
        if not one.stack:
            one.exc_traceback = None  # Python 3.9 heads the stack by this
        pending += [one.__cause__, one.__context__, *(getattr(one, "exceptions", None) or ())]


def _users(stack):
    """Give the frames that are the user's: what came through the kernel begins
    in a cell, after frames of the kernel and of an event loop."""
    ours = tuple(hidden)
    if stack and stack[0].filename.startswith(ours):
        cells = (i for i, frame in enumerate(stack) if frame.filename.startswith("<cell "))
        stack = stack[next(cells, 0):]
    return [frame for frame in stack if not frame.filename.startswith(ours)]


def _quote(told):
    """Add the line of a syntax error that only the compiler proper has seen."""
    if getattr(told, "text", "") is None and told.lineno is not None:
        told.text = linecache.getline(told.filename or "", int(told.lineno)) or None


def _name(exc):
    try:
        return _cut(type(exc).__name__, MAX_NAME)
    except Exception:  # a metaclass may do anything
        return "Exception"


def _message(exc):
    try:
        if isinstance(exc, SyntaxError):
            return _cut(str(exc.msg), MAX_MESSAGE)
        if isinstance(exc, SystemExit):
            return _cut(str(exc.code or 0), MAX_MESSAGE)
        return _cut(str(exc), MAX_MESSAGE)
    except Exception:
        return "<exception str() failed>"


def _farewell(exit):
    """Give what Python prints when a program ends itself."""
    silent = exit.code is None or isinstance(exit.code, int)
    return [] if silent else _bounded(_message(exit).splitlines())


def _line(exc, cell):
    """Give the innermost line of the cell that the exception came through, or 0."""
    if isinstance(exc, SyntaxError) and exc.filename == cell:
        line = exc.lineno  # which a cell may have set to anything
        return line if type(line) is int and 0 < line < MAX_LINE_NUMBER else 0
    line, tb = 0, exc.__traceback__
    while tb is not None:
        if tb.tb_frame.f_code.co_filename == cell:
            line = tb.tb_lineno
        tb = tb.tb_next
    return line
