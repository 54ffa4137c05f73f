"""Ctrl-C during a search: the first stops the search, which reports what is complete; the second ends the process."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from insync.cli.terminal import status_shown

__all__ = ["stop_on_interrupt"]

_NOTICE = b"Stopping with what is complete so far; press Ctrl-C again to end at once.\n"


@contextmanager
def stop_on_interrupt() -> Iterator[threading.Event]:
    """Yield an event that the first SIGINT sets; a second one has the default effect and ends the process.

    Outside the main thread, where Python delivers no signals, the event is never set.
    """
    stop = threading.Event()

    def interrupted(number: int, frame: FrameType | None) -> None:
        if stop.is_set():
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGINT)
            return
        stop.set()
        with suppress(OSError):  # not through sys.stderr, which may be in the middle of a write
            os.write(2, b"\n" + _NOTICE if status_shown() else _NOTICE)

    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)
