"""SIGINT: KeyboardInterrupt within a cell, nothing outside of one.

sandboxd repeats the signal until it hears that the cell was interrupted, since
one can get lost: the C library ignores SIGINT while system() waits.
"""

import signal
from _thread import get_ident


class Interrupt:
    """Owns SIGINT. The main thread makes it, arms it and handles it."""

    def __init__(self):
        self.on_interrupt = None  # called just before KeyboardInterrupt is raised
        self.raised = None  # the KeyboardInterrupt that this cell got
        self._armed = False
        self._deferring = 0
        self._pending = False
        self._main = get_ident()
        signal.signal(signal.SIGINT, self._handle)

    def arm(self):
        """From here on SIGINT interrupts, whatever an earlier cell made of it."""
        self.raised = None
        self._pending = False
        self._deferring = 0
        if signal.getsignal(signal.SIGINT) != self._handle:
            signal.signal(signal.SIGINT, self._handle)
        self._armed = True

    def disarm(self):
        self._armed = False

    def deferred(self):
        """A with block that an interrupt does not cut in two."""
        return self

    def __enter__(self):
        if get_ident() == self._main:
            self._deferring += 1

    def __exit__(self, *exc_info):
        if get_ident() != self._main:
            return
        self._deferring -= 1
        if self._pending and not self._deferring:
            self._pending = False
            self._handle(signal.SIGINT, None)

    def _handle(self, signum, frame):
        if not self._armed:
            return
        if self._deferring:
            self._pending = True
            return
        self.on_interrupt()
        self.raised = KeyboardInterrupt()
        raise self.raised
