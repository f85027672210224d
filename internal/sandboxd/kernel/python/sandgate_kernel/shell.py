"""What a cell means with IPython: its magics, !cmd, Out and formatters.

Plain code takes the standard library's way. IPython is asked when a cell is no
Python, when its first word is a magic's, and how to represent a value that is
not plain. That keeps a plain cell as fast as without it, and its answer the same.

IPython's own convention is kept for a semicolon at a cell's end: it hides the
value.
"""

import builtins
import os
import subprocess
import sys
import tokenize
from types import SimpleNamespace

# Completion is nobody's business here, and the library for it is slow to load
# and changes the recursion limit. The user may still import it.
sys.modules.setdefault("jedi", None)

import IPython
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.formatters import PlainTextFormatter
from IPython.core.interactiveshell import InteractiveShell
from IPython.lib import pretty
from traitlets.config import Config

from . import errors, figures, mime
from .engine import PLAIN, Engine

if sys.modules["jedi"] is None:
    del sys.modules["jedi"]

errors.hidden += [os.path.dirname(IPython.__file__) + os.sep, "<decorator-gen"]

# Long-lived kernels keep this many of their values as Out[n] and _n.
KEPT_VALUES = 1000


class ShellEngine(Engine):
    """Runs cells with IPython around them.

    What a plain cell needs of the shell is at hand: reading a trait is slow.
    """

    name = "ipython"

    def _install(self):
        # Python's own exit() and quit() end a cell; IPython's want a terminal.
        self._exits = {"exit": builtins.exit, "quit": builtins.quit}
        self.shell = shell = _shell(self.module)
        shell.display_pub.send = self._send
        shell.displayhook.show = self.show
        for name in self._exits:
            shell.builtin_trap.auto_builtins.pop(name, None)
        shell.builtin_trap.activate()
        self._add_exits()
        self._add_formatters(shell.display_formatter.formatters)
        self._count = 0
        self._events = shell.events
        self._line_magics = shell.magics_manager.magics["line"]
        self._inputs = shell.history_manager.input_hist_parsed, shell.history_manager.input_hist_raw

    def _add_exits(self):
        self.namespace.update(self._exits)
        self.shell.user_ns_hidden.update(self._exits)

    def _add_formatters(self, formatters):
        self._text = formatters[mime.TEXT]
        self._rich = [f.type_printers for kind, f in formatters.items() if kind not in (mime.TEXT, mime.JSON)]
        for kind in (dict, list):
            formatters[mime.JSON].for_type(kind, lambda value: value)
        formatters["image/png"].for_type_by_name("matplotlib.figure", "Figure", _picture)

    def restore(self):
        super().restore()
        if "_oh" not in self.namespace:
            self.shell.init_user_ns()
            self._add_exits()

    def run(self, source, cell):
        self._count += 1
        self.shell.execution_count = self._count
        info = SimpleNamespace(raw_cell=source, store_history=True, silent=False, shell_futures=True, cell_id=None)
        result = SimpleNamespace(info=info, execution_count=self._count, success=False)
        self._tell("pre_execute")
        self._tell("pre_run_cell", info)
        self._remember_input(source)
        try:
            super().run(source, cell)
            result.success = True
        finally:
            self._tell("post_execute")
            self._tell("post_run_cell", result)

    def _tell(self, event, *args):
        if self._events.callbacks[event]:
            self._events.trigger(event, *args)

    def _remember_input(self, source):
        """Keep the source as In[n] and _in, and the ones before as _i, _ii, _iii."""
        parsed, raw = self._inputs
        for label, before in zip(("_i", "_ii", "_iii"), reversed(raw[-3:])):
            self.namespace[label] = before
        self.namespace[f"_i{self._count}"] = source
        parsed.append(source)
        raw.append(source)

    def parse(self, source, cell):
        plain = None
        if not self._is_magic(source):
            try:
                return self.shell.transform_ast(super().parse(source, cell))
            except SyntaxError as exc:
                plain = exc.with_traceback(None)
        transformed = self.shell.transform_cell(source)
        try:
            tree = super().parse(transformed, cell)
        except SyntaxError:
            if plain is not None and transformed.strip() == source.strip():
                raise plain from None  # it knows the line: empty ones are gone from the other
            raise
        return self.shell.transform_ast(tree)

    def _is_magic(self, source):
        """Whether a line like `ls` or `cd ..` means a magic, not a variable."""
        line = source.strip()
        word = line.split(None, 1)[0] if line else ""
        return "\n" not in line and word in self._line_magics and word not in self.namespace

    def show_last(self, value, source):
        if not _ends_with_semicolon(source):
            self.show(value)
            self.shell.displayhook.update_user_ns(value)

    def show(self, value):
        if type(value) in PLAIN and self._is_registered(type(value)):
            self._send(value, self.bundle(value))
        else:
            super().show(value)

    def bundle(self, value):
        data, _ = self.shell.display_formatter.format(value)
        return data

    def _is_registered(self, kind):
        """Whether somebody, sympy say, has said how to represent a plain type."""
        return self._text.is_registered(kind) or any(kind in printers for printers in self._rich)


def _shell(module):
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "NoColor"
    config.InteractiveShell.display_page = True
    return _Shell.instance(config=config, user_module=module)


def _picture(figure):
    """Represent a figure that IPython's display() was given."""
    data = figures.represent(figure)
    figures.forget(figure)
    return data["image/png"]


class _DisplayHook(DisplayHook):
    """Keeps Out and its names; the engine does the showing."""

    show = None

    def __call__(self, result=None):
        """Show what IPython itself has run, in get_ipython().run_cell() say."""
        if result is not None:
            self.show(result)
            self.update_user_ns(result)
            self.fill_exec_result(result)

    def update_user_ns(self, result):
        names = self.shell.user_ns
        values = names["_oh"]
        if result is values:
            return
        number = self.prompt_count
        values[number] = names[f"_{number}"] = result
        # A _ that somebody else has set, gettext say, is left alone.
        is_ours = names.get("_") is self._ and "_" not in builtins.__dict__
        self.___, self.__, self._ = self.__, self._, result
        if is_ours:
            names.update({"_": self._, "__": self.__, "___": self.___})
        if len(values) > KEPT_VALUES:
            self._drop_oldest(values, names)

    @staticmethod
    def _drop_oldest(values, names):
        for number in sorted(values)[:KEPT_VALUES // 5]:
            del values[number]
            names.pop(f"_{number}", None)


class _Publisher(DisplayPublisher):
    """What IPython.display shows becomes a result."""

    send = None

    def publish(self, data, metadata=None, *args, **options):
        self.send(None, data)

    def clear_output(self, wait=False):
        """What was sent cannot be taken back."""


class _PlainText(PlainTextFormatter):
    """A value's text is its repr, unless somebody has said otherwise."""

    def __call__(self, value):
        kind = type(value)
        if hasattr(kind, "_repr_pretty_") or any(map(self.is_registered, kind.__mro__)):
            return super().__call__(value)
        return repr(value)

    def is_registered(self, kind):
        """Whether the way to print a type is not IPython's own."""
        if kind is float:
            return self.float_format != "%r"
        if self.type_printers.get(kind) is not pretty._type_pprinters.get(kind):
            return True
        name = kind.__module__, kind.__name__
        return name in self.deferred_printers and name not in pretty._deferred_type_pprinters


class _Shell(InteractiveShell):
    displayhook_class = _DisplayHook
    display_pub_class = _Publisher

    def init_display_formatter(self):
        super().init_display_formatter()
        formatter = self.display_formatter
        formatter.formatters[mime.TEXT] = _PlainText(parent=formatter)

    def enable_gui(self, gui=None):
        """There is no screen, and no loop to join: figures are shown all the same."""

    def system(self, command):
        """Run a command on the kernel's own descriptors, so that its output is
        the cell's, in its order, and an interrupt is not swallowed."""
        command = self.var_expand(command, depth=1)
        self.user_ns["_exit_code"] = subprocess.call(command, shell=True)

    def showtraceback(self, exc_tuple=None, **options):
        """Tell an error that IPython has caught.

        A formatter passes its own: the value still has a text, so stderr is
        enough. Any other is the cell's, and ends it.
        """
        if exc_tuple is None:
            raise
        errors.print_to(sys.stderr, exc_tuple[1])

    def showsyntaxerror(self, filename=None, running_compiled_code=False):
        raise


def _ends_with_semicolon(source):
    if ";" not in source:
        return False
    lines = iter(source.splitlines(keepends=True))
    silent = tokenize.ENDMARKER, tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT
    last = ""
    try:
        for token in tokenize.generate_tokens(lambda: next(lines, "")):
            last = last if token.type in silent else token.string
    except (tokenize.TokenError, SyntaxError):  # a magic, which is no Python
        return False
    return last == ";"
