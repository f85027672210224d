"""Take requests and answer them, one cell after the other."""

import builtins
import os
import sys
from binascii import a2b_base64

from . import errors, warm
from .channel import Channel
from .engine import Engine
from .interrupt import Interrupt
from .stdio import Stdio

# Set to "python", it keeps IPython out.
ENGINE_VARIABLE = "SANDGATE_PYTHON_ENGINE"


class Kernel:
    """The interpreter as sandboxd sees it."""

    def __init__(self):
        self._interrupt = Interrupt()
        self._channel = Channel(self._interrupt)
        self._interrupt.on_interrupt = lambda: self._channel.send("interrupted")
        self._stdio = Stdio()
        self._engine = _engine(self._send_result)
        self._builtins = dict(builtins.__dict__)

    def serve(self):
        """Answer requests until sandboxd closes its end."""
        self._channel.send("ready", engine=self._engine.name)
        while (request := self._channel.receive()) is not None:
            self._channel.cell = request["id"]
            if "preload" in request:
                self._channel.send("preloaded", failed=warm.preload(request["preload"]))
            else:
                self._answer(request)

    def _answer(self, request):
        self._stdio.restore(a2b_base64(request.get("stdin", "")))
        if "renew" in request:
            warm.renew(request["renew"].get("env") or {})
        self._engine.restore()
        self._interrupt.arm()
        try:
            outcome = self._run(request["code"], f"<cell {request['id']}>")
        except KeyboardInterrupt:  # while it told of an error
            outcome = {"interrupted": True}
        except BaseException as exc:  # nothing can be told of the error but this
            outcome = {"error": errors.bare(exc)}
        finally:
            self._interrupt.disarm()
        self._channel.send("done", **outcome)

    def _run(self, code, cell):
        """Run a cell to its end, with all that belongs to it."""
        ended = self._attempt(code, cell)
        try:
            if os.getpid() != self._channel.pid:
                _leave(ended)
            interrupted = self._interrupt.raised is not None and isinstance(ended, KeyboardInterrupt)
            ended = self._show_figures(ended, interrupted)
            if ended is None:
                return {}
            return {"error": errors.describe(ended, cell), "interrupted": interrupted}
        finally:
            # Its traceback leads back to this frame; a cycle would keep the
            # user's values alive.
            ended = self._interrupt.raised = None

    def _attempt(self, code, cell):
        """Run the code, and give the exception that ended it, if one did."""
        try:
            self._engine.run(code, cell)
        except:  # noqa: E722 (the name BaseException may be gone)
            return sys.exc_info()[1]
        finally:
            self._mend()
        return None

    def _mend(self):
        """Put back the builtins that the cell has deleted, using none of them."""
        present = builtins.__dict__
        if present.keys() >= self._builtins.keys():
            return
        for name in self._builtins.keys() - present.keys():
            present[name] = self._builtins[name]

    def _show_figures(self, ended, interrupted):
        figures = self._engine.figures
        if interrupted:
            figures.close()
            return ended
        try:
            figures.flush()
        except Exception as exc:
            return ended or exc
        return ended

    def _send_result(self, fields, dropped):
        self._channel.send("result", result=fields, dropped=dropped)


def _engine(send_result):
    """Make the best engine there is."""
    if os.environ.get(ENGINE_VARIABLE) != Engine.name:
        try:
            from .shell import ShellEngine

            return ShellEngine(send_result)
        except Exception:  # IPython is not there, or broken
            pass
    return Engine(send_result)


def _leave(ended):
    """End a process that the cell has forked: it has run its copy of the cell."""
    status = 0 if ended is None else 1
    try:
        if isinstance(ended, SystemExit):
            status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        elif ended is not None:
            errors.print_to(sys.stderr, ended)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(status & 0xFF)
