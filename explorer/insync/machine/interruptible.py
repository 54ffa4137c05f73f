"""Work that its caller can stop waiting for.

LLVM cannot be interrupted: one call of it takes up to half a minute for the largest models. So it works in a thread,
and the caller looks up ten times a second whether to go on waiting. Who gives up leaves the thread behind: it ends with
what it is at, which goes to the cache. Spark is waited for in the same way: its start, a job, and its end.

The thread is not a daemon. A process that ends while LLVM works takes LLVM's global objects away under it, and crashes;
so the interpreter waits for the thread at its end. A program that must end at once asks `still_working`, and then ends
by `os._exit`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["GivenUp", "delayed", "interruptible", "still_working", "unattended"]

T = TypeVar("T")

_LOOK_SECONDS = 0.1


class GivenUp(Exception):
    """Somebody wanted an end before the work was done.

    Attributes:
        reason: what `stopped` gave.
    """

    def __init__(self, reason: object) -> None:
        super().__init__(reason)
        self.reason = reason


class _Worker(threading.Thread, Generic[T]):
    """The thread that does the work, and what came of it.

    Attributes:
        wanted: whether somebody waits for it.
        done: is set when the work is over.
    """

    def __init__(self, work: Callable[[Callable[[], bool]], T]) -> None:
        super().__init__(name="insync-work", daemon=False)
        self.wanted = True
        self.done = threading.Event()
        self._work = work
        self._results: list[T] = []
        self._errors: list[BaseException] = []

    def run(self) -> None:
        try:
            self._results.append(self._work(lambda: self.wanted))
        except BaseException as error:  # noqa: BLE001  (raised again in the thread that waits)
            self._errors.append(error)
        self.done.set()

    def result(self, stopped: Callable[[], object]) -> T:
        """Wait for the result."""
        try:
            while not self.done.wait(_LOOK_SECONDS):
                if reason := stopped():
                    raise GivenUp(reason)
        finally:
            self.wanted = False
        for error in self._errors:
            raise error
        return self._results[0]


def interruptible(work: Callable[[Callable[[], bool]], T], stopped: Callable[[], object]) -> T:
    """Return what some work gives, unless its caller is told to stop first.

    Args:
        work: is called in a thread of its own, with a function that says whether somebody still waits for it.
        stopped: asked before the work and then ten times a second: something true is the reason to give up.

    Raises:
        GivenUp: there was a reason. The work goes on until it asks whether somebody waits.
    """
    if reason := stopped():
        raise GivenUp(reason)
    worker = _Worker(work)
    worker.start()
    return worker.result(stopped)


def unattended(work: Callable[[], object]) -> None:
    """Have some work done that nobody waits for but the end of this process; see `still_working`."""
    _Worker(lambda _: work()).start()


def delayed(stopped: Callable[[], object], seconds: float) -> Callable[[], object]:
    """Return what gives the reason to stop so many seconds after `stopped` first gave one."""
    since: float | None = None

    def later() -> object:
        nonlocal since
        reason = stopped()
        if not reason:
            return None
        since = time.perf_counter() if since is None else since
        return reason if time.perf_counter() - since >= seconds else None

    return later


def still_working() -> bool:
    """Return whether some work goes on that nobody waits for, so that the end of this process does."""
    return any(isinstance(thread, _Worker) and not thread.done.is_set() for thread in threading.enumerate())
