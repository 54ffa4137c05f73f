"""Asking a checker within limits: what it says, or an opinion that says what has ended it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from insync.explorer.agree import Opinion
from insync.explorer.limits import Limits, StopReason, Watch
from insync.explorer.programs.child_processes import Workshop
from insync.machine.interruptible import GivenUp

__all__ = ["opinion_within"]


def opinion_within(
    engine: str, limits: Limits, stop: threading.Event | None, ask: Callable[[Workshop], Opinion]
) -> Opinion:
    """Return what a checker says that works in a folder of its own.

    Args:
        engine: its name.
        limits: of all that it does there.
        stop: ends it when it is set.
        ask: has it work in the folder, and reads what it says.
    """
    started = time.perf_counter()
    try:
        with Workshop(Watch(limits, stop)) as shop:
            return ask(shop)
    except GivenUp as ended:
        reason = StopReason.of(ended)
        return Opinion(engine, None, 0, None, None, {}, {}, time.perf_counter() - started, stopped_by=reason)
