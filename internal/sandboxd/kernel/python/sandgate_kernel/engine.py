"""What a cell means, with the standard library alone.

A cell is parsed, run in the namespace of `__main__`, and the value of its last
expression shown. Top-level await is allowed: such a cell runs in an event loop
that belongs to the kernel, so its tasks go on in the next cell that awaits.
Around other cells no loop runs, so they may call asyncio.run().
"""

import __future__
import _ast
import builtins
import linecache
import sys
import types
from collections import deque

from . import figures, mime

PARSE = _ast.PyCF_ONLY_AST | _ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
FUTURES = 0
for _name in __future__.all_feature_names:
    FUTURES |= getattr(__future__, _name).compiler_flag

CO_COROUTINE = 0x80

# Sources are kept for tracebacks and inspect.getsource(), the oldest dropped.
MAX_SOURCES = 8 << 20

# Values of these types have no other representation than their repr.
PLAIN = frozenset([bool, int, float, complex, str, bytes, tuple, list, dict, set, frozenset])


class Engine:
    """Runs cells. `send_result(fields, dropped)` takes what they show."""

    name = "python"

    def __init__(self, send_result):
        self._send_result = send_result
        self.module = types.ModuleType("__main__")
        self.namespace = self.module.__dict__
        self.namespace["__builtins__"] = builtins
        sys.modules["__main__"] = self.module
        self.figures = figures.Figures(self._send)
        self._loop = None
        self._flags = _ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        self._sources = deque()
        self._sources_size = 0
        self._install()

    def _install(self):
        builtins.display = self.display

    def restore(self):
        """Make `__main__` what cells expect, whatever became of it."""
        self.namespace.setdefault("__name__", "__main__")
        sys.modules["__main__"] = self.module

    def run(self, source, cell):
        """Run one cell, named `cell`, and show its value."""
        self._remember(source, cell)
        value = self._execute(*self._compile(self.parse(source, cell), cell))
        if value is not None:
            self.show_last(value, source)

    def parse(self, source, cell):
        """Give the syntax tree of a cell."""
        return compile(source, cell, "exec", self._flags | PARSE, dont_inherit=True)

    def _compile(self, tree, cell):
        """Split a cell into statements and a last expression; either may be None.

        Both are compiled before anything runs: errors in the syntax come first.
        """
        statements, last = tree.body, None
        if statements and isinstance(statements[-1], _ast.Expr):
            last = _ast.Expression(statements.pop().value)
        body = None
        if statements:
            body = compile(tree, cell, "exec", self._flags, dont_inherit=True)
            self._flags |= body.co_flags & FUTURES
        if last is not None:
            last = compile(last, cell, "eval", self._flags, dont_inherit=True)
        return body, last

    def _execute(self, body, last):
        """Run the parts of a cell, and give the value of the last expression."""
        if _awaits(body) or _awaits(last):
            return self._await(self._execute_in_loop(body, last))
        if body is not None:
            eval(body, self.namespace)
        return None if last is None else eval(last, self.namespace)

    async def _execute_in_loop(self, *parts):
        value = None
        for part in parts:
            if part is not None:
                value = eval(part, self.namespace)
            if _awaits(part):
                value = await value
        return value

    def _await(self, coroutine):
        """Run a coroutine in the kernel's own loop, to its end or an interrupt."""
        import asyncio

        if self._loop is None or self._loop.is_closed():
            self._loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self._loop)
        task = self._loop.create_task(coroutine)
        try:
            return self._loop.run_until_complete(task)
        finally:
            if not task.done():
                self._cancel(task)

    def _cancel(self, task):
        task.cancel()
        try:
            self._loop.run_until_complete(task)
        except BaseException:  # the cell ends with what interrupted it
            pass

    def show_last(self, value, source):
        """Show the value of a cell's last expression, and keep it as `_`."""
        self.show(value)
        builtins._ = value

    def show(self, value):
        """Show a value as one result."""
        kind = type(value)
        if kind in PLAIN:
            self._send(value, {mime.TEXT: repr(value)})
        elif figures.is_figure(value):
            self._send(value, figures.represent(value))
            figures.forget(value)
        elif data := self.bundle(value):
            self._send(value, data)

    def bundle(self, value):
        """Give the representations of a value by MIME type, none if it showed itself."""
        return mime.bundle(value)

    def display(self, *values, raw=False, **options):
        """Show values, each as a result of its own.

        With raw=True they are dictionaries of data by MIME type.
        """
        for value in values:
            if raw:
                self._send(None, value)
            else:
                self.show(value)

    def _send(self, value, data):
        self._send_result(*mime.result(value, data))

    def _remember(self, source, cell):
        lines = [line + "\n" for line in source.split("\n")]
        linecache.cache[cell] = (len(source), None, lines, cell)
        self._sources.append((cell, len(source)))
        self._sources_size += len(source)
        while self._sources_size > MAX_SOURCES and len(self._sources) > 1:
            name, size = self._sources.popleft()
            self._sources_size -= size
            linecache.cache.pop(name, None)


def _awaits(code):
    return code is not None and code.co_flags & CO_COROUTINE
