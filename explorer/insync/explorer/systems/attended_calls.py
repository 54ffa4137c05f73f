"""Calls of a user's system by a thread of their own, with a limit of time for each call.

Python cannot end a thread. So a call that hangs is left behind: the thread that waits for it goes on without it, and
the thread of the call is a daemon, for which the end of the process does not wait. A call that keeps Python's global
lock, such as one of C code, keeps both threads from running and cannot be left behind.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from queue import SimpleQueue
from typing import Generic, TypeVar

from insync.explorer.systems.adapter import CLOSE, Call
from insync.runtime.errors import UserError
from insync.runtime.watch import Stopped, StopReason, Watch

__all__ = ["STEP_SECONDS", "AttendedCalls", "CallHung", "CallRaised", "CallThread", "require_seconds"]

STEP_SECONDS = 10.0
"""The default limit of time for each call."""

_LOOK_SECONDS = 0.05
_GRACE_SECONDS = 0.5
"""How long a thread whose work is to stop may take to finish the call that is under way."""

T = TypeVar("T")

RAISED = (Exception, SystemExit)
"""What counts as an exception of the system: not Ctrl-C, and not the outcomes with which pytest ends a test."""


class CallRaised(Exception):
    """A call of the system raised an exception.

    Attributes:
        name: of the method.
        error: the exception.
    """

    def __init__(self, name: str, error: BaseException) -> None:
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
        except RAISED as error:
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
        except RAISED as error:
            raise CallRaised(name, error) from error
        finally:
            self._under_way = None


class CallThread:
    """Calls a user's system in a thread of its own, one call after the other.

    Args:
        seconds: the limit of each call. None is no limit; the calls are then made in the thread of the caller.

    Attributes:
        left: whether a call hangs, so that no other can be made.
    """

    def __init__(self, seconds: float | None) -> None:
        self.seconds, self.left = seconds, False
        self._calls: SimpleQueue[tuple[Callable[[], object], Future[object]] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def __call__(self, name: str, method: Callable[..., object], /, *given: object, **parameters: object) -> object:
        """Return what a method returns.

        Raises:
            CallRaised: the method raised.
            CallHung: it did not return within the limit.
        """
        answer: Future[object] = Future()
        work = partial(method, *given, **parameters)
        if self.seconds is None:
            _answer(work, answer)
        else:
            self._send(work, answer)
        try:
            error = answer.exception(self.seconds)
        except TimeoutError:
            assert self.seconds is not None, "only then is there a limit"
            self.left = True
            raise CallHung(name, self.seconds) from None
        if isinstance(error, RAISED):
            raise CallRaised(name, error) from error
        return answer.result()

    def _send(self, work: Callable[[], object], answer: Future[object]) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=_serve, args=[self._calls], name="insync-system", daemon=True)
            self._thread.start()
        self._calls.put((work, answer))

    def end(self) -> None:
        """End the thread, as soon as the call that is under way returns."""
        self._calls.put(None)


def _answer(work: Callable[[], object], answer: Future[object]) -> None:
    """Do some work, and put what comes of it into an answer."""
    try:
        answer.set_result(work())
    except BaseException as error:  # noqa: BLE001  (raised again in the thread that waits)
        answer.set_exception(error)


def _serve(calls: SimpleQueue[tuple[Callable[[], object], Future[object]] | None]) -> None:
    """Make calls until there are no more."""
    while (asked := calls.get()) is not None:
        _answer(*asked)


def require_seconds(given: object) -> None:
    """Raise UserError unless a value is a limit of time for each call."""
    if given is None:
        return
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given < math.inf:
        message = f"step_seconds={given!r} is not a time; give a number of seconds above 0, such as 10, or None."
        raise UserError(message)


def _closes(name: str) -> bool:
    """Return whether a call ends the system: that is made although the work is to stop."""
    return name.endswith(f".{CLOSE}")
