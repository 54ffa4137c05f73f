"""Work that its caller can abandon.

LLVM cannot be interrupted: one call takes up to half a minute for the largest models. So it runs in a thread, and the
caller tests ten times a second whether to go on waiting. If not, the thread is left behind: it finishes its current
part, which goes to the cache. The start, jobs and the end of Spark run in the same way.

The thread is not a daemon. A process that exits while LLVM works destroys LLVM's global objects, and crashes; so the
interpreter waits for the thread. A program that must exit at once calls `still_working`, and then `os._exit`.
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
    """Work was abandoned before it was done.

    Attributes:
        reason: the result of `stopped`.
    """

    def __init__(self, reason: object) -> None:
        super().__init__(reason)
        self.reason = reason


class _Worker(threading.Thread, Generic[T]):
    """The thread that does the work, and its result.

    Attributes:
        wanted: whether a caller waits for the result.
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
    """Run work in a thread, and return its result unless `stopped` gives a reason first.

    Args:
        work: the work; its argument is a function that returns whether a caller still waits.
        stopped: called before the work and then ten times a second; a true result is the reason to abandon it.

    Raises:
        GivenUp: there was a reason. The work goes on until it finds that no caller waits.
    """
    if reason := stopped():
        raise GivenUp(reason)
    worker = _Worker(work)
    worker.start()
    return worker.result(stopped)


def unattended(work: Callable[[], object]) -> None:
    """Run work in a thread for which only the end of this process waits; see `still_working`."""
    _Worker(lambda _: work()).start()


def delayed(stopped: Callable[[], object], seconds: float) -> Callable[[], object]:
    """Return a function that gives the reason of `stopped` when `seconds` have passed since it first gave one."""
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
    """Return whether abandoned work still runs, for which the end of this process would wait."""
    return any(isinstance(thread, _Worker) and not thread.done.is_set() for thread in threading.enumerate())
