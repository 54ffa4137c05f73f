"""A team of threads that work in rounds: `run` returns when all have finished the same task.

The threads run in parallel, as machine code runs without the interpreter lock.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from types import TracebackType

__all__ = ["Team", "available_cores"]


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Team:
    """Threads that all run the same task, each with its own number; the calling thread is number 0.

    Use it as a context manager. An error in any thread is raised again by `run`, after all have finished.

    Args:
        size: the number of threads, the calling one included.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._task: Callable[[int], None] | None = None
        self._errors: list[BaseException] = []
        self._start = [threading.Semaphore(0) for _ in range(1, size)]
        self._finished = threading.Semaphore(0)
        self._threads = [threading.Thread(target=self._serve, args=(n,), daemon=True) for n in range(1, size)]

    def __enter__(self) -> Team:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._task = None
        for start in self._start:
            start.release()
        for thread in self._threads:
            thread.join()

    def run(self, task: Callable[[int], None], alone: bool = False) -> None:
        """Call task(number) for every thread's number in that thread, and wait for all.

        Args:
            task: the function to call.
            alone: whether the calling thread makes all calls, one after the other: faster for very little work.
        """
        if alone:
            for number in range(self.size):
                task(number)
            return
        self._task = task
        for start in self._start:
            start.release()
        try:
            task(0)
        finally:
            # The others use the same memory, so they must have finished before this thread continues.
            for _ in self._threads:
                self._finished.acquire()
        if self._errors:
            raise self._errors.pop()

    def _serve(self, number: int) -> None:
        while True:
            self._start[number - 1].acquire()
            task = self._task
            if task is None:
                return
            try:
                task(number)
            except BaseException as error:  # noqa: BLE001  (raised again in `run`)
                self._errors.append(error)
            finally:
                self._finished.release()
