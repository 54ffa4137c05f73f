"""Calls of a user's system by a thread of their own, with a limit of time for each call.

Python cannot end a thread. So a call that hangs is left behind: the thread that waits for it goes on without it, and
the thread of the call is a daemon, for which the end of the process does not wait. A call that keeps Python's global
lock, such as one of C code, keeps both threads from running and cannot be left behind.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from insync.explorer.systems.adapter import CLOSE, Call
from insync.runtime.watch import Stopped, StopReason, Watch

__all__ = ["STEP_SECONDS", "AttendedCalls", "CallHung", "CallRaised"]

STEP_SECONDS = 10.0
"""The default limit of time for each call."""

_LOOK_SECONDS = 0.05
_GRACE_SECONDS = 0.5
"""How long a thread whose work is to stop may take to finish the call that is under way."""

T = TypeVar("T")


class CallRaised(Exception):
    """A call of the system raised an exception.

    Attributes:
        name: of the method.
        error: the exception.
    """

    def __init__(self, name: str, error: Exception) -> None:
        super().__init__(name)
        self.name, self.error = name, error


class CallHung(Exception):
    """A call of the system did not return in time.

    Attributes:
        name: of the method.
        seconds: the limit.
    """

    def __init__(self, name: str, seconds: float) -> None:
        super().__init__(name)
        self.name, self.seconds = name, seconds


class AttendedCalls:
    """Does work that calls a user's system.

    Args:
        seconds: the limit of each call. None is no limit; the calls are then made in the thread that calls `run`.
        watch: the limits of the work as a whole.
    """

    def __init__(self, seconds: float | None, watch: Watch) -> None:
        self.seconds, self._watch = seconds, watch

    def run(self, work: Callable[[Call], T]) -> T:
        """Return the result of work, which calls the system by its argument.

        Raises:
            Stopped: the watch has a reason to stop.
            CallRaised: the system raised, and the work did not handle it.
            CallHung: a call took longer than the limit.
        """
        self._watch.check()
        if self.seconds is None:
            return work(self._call_here)
        thread = _Thread(work)
        try:
            thread.start()
            while not thread.over.wait(min(_LOOK_SECONDS, self.seconds / 2)):
                self._watch.check()
                if (name := thread.overdue(self.seconds)) is not None:
                    raise CallHung(name, self.seconds)
        except CallHung:
            thread.left = True
            raise
        except BaseException:
            thread.left = True
            thread.over.wait(_GRACE_SECONDS)
            raise
        return thread.result()

    def _call_here(self, name: str, method: Callable[..., object], /, *given: object, **parameters: object) -> object:
        if not _closes(name):
            self._watch.check()
        try:
            return method(*given, **parameters)
        except Exception as error:
            raise CallRaised(name, error) from error


class _Thread(threading.Thread, Generic[T]):
    """Work in a thread.

    Attributes:
        over: set when the work is done.
        left: whether nobody waits any more: the next call is not made.
    """

    def __init__(self, work: Callable[[Call], T]) -> None:
        super().__init__(name="insync-system", daemon=True)
        self.over, self.left = threading.Event(), False
        self._work = work
        self._under_way: tuple[str, float] | None = None
        self._results: list[T] = []
        self._error: BaseException | None = None

    def run(self) -> None:
        """Do the work; called in its thread."""
        try:
            self._results.append(self._work(self._call))
        except BaseException as error:  # noqa: BLE001  (raised again in the thread that waits)
            self._error = error
        finally:
            self.over.set()

    def result(self) -> T:
        """Return the result of the work that is over, or raise its error."""
        if self._error is not None:
            raise self._error
        return self._results[0]

    def overdue(self, seconds: float) -> str | None:
        """Return the name of the call that is under way for longer than `seconds`; None if there is none."""
        under_way = self._under_way
        return under_way[0] if under_way is not None and time.monotonic() - under_way[1] > seconds else None

    def _call(self, name: str, method: Callable[..., object], /, *given: object, **parameters: object) -> object:
        if self.left and not _closes(name):
            raise Stopped(StopReason.INTERRUPT)
        self._under_way = name, time.monotonic()
        try:
            return method(*given, **parameters)
        except Exception as error:
            raise CallRaised(name, error) from error
        finally:
            self._under_way = None


def _closes(name: str) -> bool:
    """Return whether a call ends the system: that is made although the work is to stop."""
    return name.endswith(f".{CLOSE}")
