"""SIGINT: KeyboardInterrupt within a cell, nothing outside of one.

sandboxd repeats the signal until it hears that the cell was interrupted, since
one can get lost: the C library ignores SIGINT while system() waits.
"""

import sys
from _signal import SIGINT, getsignal, signal  # the signal module makes enums of it all
from _thread import get_ident


class Interrupt:
    """Owns SIGINT. The main thread makes it, arms it and handles it."""

    def __init__(self):
        self.on_interrupt = None  # called just before KeyboardInterrupt is raised
        self.raised = None  # the KeyboardInterrupt that this cell got
        self._armed = False
        self._deferring = 0
        self._pending = False
        self._scheduled = False
        self._main = get_ident()
        signal(SIGINT, self._handle)

    def arm(self):
        """From here on SIGINT interrupts, whatever an earlier cell made of it."""
        self.raised = None
        self._pending = self._scheduled = False
        self._deferring = 0
        if getsignal(SIGINT) != self._handle:
            signal(SIGINT, self._handle)
        self._armed = True

    def disarm(self):
        self._armed = self._scheduled = False

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
            self._handle(SIGINT, None)

    def _handle(self, signum, frame):
        if not self._armed:
            return
        if self._deferring:
            self._pending = True
            return
        if self._scheduled or not self._schedule():
            self._raise()

    def _schedule(self):
        """Leave the raising to an event loop, if one runs.

        Raised just anywhere in it, the exception could cost the loop a callback,
        and the task that waits for it would never end. A loop that does not come
        to it until the next signal is not spared.
        """
        events = sys.modules.get("asyncio.events")
        loop = events and events._get_running_loop()
        if not loop:
            return False
        try:
            loop.call_soon_threadsafe(self._raise_in_loop)
        except RuntimeError:  # it is being closed
            return False
        self._scheduled = True
        return True

    def _raise_in_loop(self):
        if self._scheduled:
            self._raise()

    def _raise(self):
        self._scheduled = False
        self.on_interrupt()
        self.raised = KeyboardInterrupt()
        raise self.raised
