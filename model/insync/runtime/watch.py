"""The limits of a search, the reasons for which it may stop early, and the watch that checks them."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, Self, TypeVar

from insync.runtime.errors import UserError
from insync.runtime.memory import available_memory, resident_memory

__all__ = [
    "GivenUp",
    "Limits",
    "StopReason",
    "Watch",
    "delayed",
    "interruptible",
    "limits_of",
    "require_room",
    "require_seconds_alone",
    "require_whole",
    "still_working",
    "unattended",
]


class StopReason(StrEnum):
    """The limit that ended a search; SATURATION ends random walks that have seen no new abstract state for long."""

    DEPTH = "depth"
    STATES = "states"
    TIME = "time"
    MEMORY = "memory"
    INTERRUPT = "interrupt"
    SATURATION = "saturation"

    @classmethod
    def of(cls, ended: GivenUp) -> Self:
        """Return the limit for which work was given up."""
        return cls(str(ended.reason))


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a search; None means no bound.

    Attributes:
        depth: levels; the level of the initial states is 1.
        states: distinct states; the search ends with the level in which they are reached.
        seconds: of compilation and search together.
        memory_bytes: the resident set of the process. None adds nine tenths of the memory that is free to what it has.

    Raises:
        UserError: seconds below 0, or another limit that is not a whole number of at least 1.
    """

    depth: int | None = None
    states: int | None = None
    seconds: float | None = None
    memory_bytes: int | None = None

    def __post_init__(self) -> None:
        for name in ("depth", "states", "memory_bytes"):
            if (value := getattr(self, name)) is not None:
                require_whole(f"Limits({name}={value!r})", value, 1)
        seconds: object = self.seconds
        if seconds is None:
            return
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds < math.inf:
            message = f"Limits(seconds={seconds!r}) is not a time; give a number of seconds, such as 60 or 0.5."
            raise UserError(message)


def require_whole(given: str, value: object, least: int, most: int | None = None) -> None:
    """Raise UserError unless a value is a whole number in a range; `given` is the argument for the message."""
    number = value if isinstance(value, int) and not isinstance(value, bool) else least - 1
    if number < least or (most is not None and number > most):
        allowed = f"of at least {least}" if most is None else f"from {least} to {most}"
        message = f"{given} is out of range; give a whole number {allowed}."
        raise UserError(message)


def limits_of(given: Limits | None) -> Limits:
    """Return the limits passed to a verb; None means no limit.

    Raises:
        UserError: the argument is something else.
    """
    if given is not None and not isinstance(given, Limits):
        message = f"limits={given!r} is not a Limits; write limits=Limits(seconds=60), say."
        raise UserError(message)
    return given or Limits()


def require_seconds_alone(limits: Limits | None, what: str, instead: str = "") -> Limits:
    """Return the limits of work that only seconds can limit.

    Args:
        limits: the limits; None means no limit.
        what: the work, for the message.
        instead: a sentence on what else limits the work, for the message.

    Raises:
        UserError: another limit is set.
    """
    given = limits_of(limits)
    for name in ("depth", "states", "memory_bytes"):
        if (value := getattr(given, name)) is not None:
            message = f"Limits({name}={value}) does not limit {what}; the only limit is Limits(seconds=...).{instead}"
            raise UserError(message)
    return given


_TELLING_SECONDS = 1.0
_STEP = 10 << 20  # the message names a round figure, as what Python takes is not the same each time


class Watch:
    """Checks the limits of a search.

    Args:
        limits: of the search.
        stop: set to end the search.
    """

    def __init__(self, limits: Limits, stop: threading.Event | None) -> None:
        self.limits, self._stop = limits, stop
        self.started = time.perf_counter()
        self.memory_bytes = limits.memory_bytes or resident_memory() + available_memory() * 9 // 10
        self._lock = threading.Lock()
        self._promised = 0
        self._tell: Callable[[], None] = _nothing
        self._due = math.inf

    def again(self, depth: int) -> Watch:
        """Return a watch over the same search once more, to a depth, without a limit on time."""
        return Watch(Limits(depth=depth, memory_bytes=self.limits.memory_bytes), self._stop)

    @property
    def seconds(self) -> float:
        """The seconds since the search began."""
        return time.perf_counter() - self.started

    @property
    def room(self) -> int:
        """The bytes of memory that may still be taken; not positive if there are none."""
        return self.memory_bytes - self.resident

    @property
    def resident(self) -> int:
        """The resident set of the process in bytes."""
        return resident_memory()

    @property
    def is_full(self) -> bool:
        """Whether the process takes more memory than it may."""
        return self.resident > self.memory_bytes

    @property
    def stopped(self) -> bool:
        """Whether `stop` is set, which is more urgent than a limit on time."""
        return self._stop is not None and self._stop.is_set()

    def interrupted(self) -> StopReason | None:
        """Return why the search must stop at once, if it must: time or interrupt."""
        if time.perf_counter() >= self._due:
            self._due = time.perf_counter() + _TELLING_SECONDS
            self._tell()
        if self.stopped:
            return StopReason.INTERRUPT
        if self.limits.seconds is not None and self.seconds >= self.limits.seconds:
            return StopReason.TIME
        return None

    def must_stop(self, grows: bool) -> StopReason | None:
        """Return why walks must stop at once, if they must: time, interrupt, or memory if what they keep grows."""
        return self.interrupted() or (StopReason.MEMORY if grows and self.is_full else None)

    @contextmanager
    def telling(self, tell: Callable[[], None] | None) -> Iterator[None]:
        """Call `tell` about once a second within the block, when the limits are checked.

        For work that checks the limits often and has no progress of its own: a compilation, a decision about runs.
        """
        self._tell, self._due = tell or _nothing, time.perf_counter() + _TELLING_SECONDS
        try:
            yield
        finally:
            self._due = math.inf

    def go_on(self) -> None:
        """Raise GivenUp if the search must stop at once."""
        if (reason := self.interrupted()) is not None:
            raise GivenUp(reason)

    def after_level(self, depth: int, states: int) -> StopReason | None:
        """Return why the search must stop after a complete level, if it must: depth or states."""
        if self.limits.depth is not None and depth >= self.limits.depth:
            return StopReason.DEPTH
        if self.limits.states is not None and states >= self.limits.states:
            return StopReason.STATES
        return None

    def reaches(self, depth: int, states: int) -> bool:
        """Return whether the limits allow a search of this depth with this number of states."""
        return not (
            (self.limits.depth is not None and depth > self.limits.depth)
            or (self.limits.states is not None and states > self.limits.states)
        )

    def settle(self) -> None:
        """End all promises of `may_use`: the memory has been taken by now, or is not needed."""
        self._promised = 0

    def require_room(self, needed: int = 0, use: str = "") -> None:
        """Raise UserError if a limit on memory leaves no room to work in; see the function `require_room`.

        Args:
            needed: bytes that the work takes before it has any result.
            use: the use of these bytes, in words.
        """
        require_room(self.limits, resident_memory(), needed, use)

    def may_use(self, size: int) -> bool:
        """Promise `size` more bytes of memory if the limit allows it; any thread may call this."""
        with self._lock:
            if resident_memory() + self._promised + size > self.memory_bytes:
                return False
            self._promised += size
            return True


def _nothing() -> None:
    pass


def require_room(limits: Limits, taken: int, needed: int, use: str) -> None:
    """Raise UserError if a limit on memory leaves no room to work in.

    Args:
        limits: with or without a limit on memory.
        taken: bytes that are taken before the search begins.
        needed: bytes that the work takes before it has any result.
        use: the use of these bytes, in words.
    """
    given = limits.memory_bytes
    if given is None or taken + needed <= given:
        return
    least = (-(-(taken + needed) // _STEP) + 1) * _STEP
    parts = [f"takes {_mebibytes(taken)} before the search begins"] if taken else []
    parts += [f"needs {_mebibytes(needed)} for {use}"] if needed else []
    message = (
        f"A limit of {_mebibytes(given)} on the memory is too little, as insync {' and '.join(parts)}; "
        f"give {least >> 20}M (memory_bytes={least}) or more."
    )
    raise UserError(message)


def _mebibytes(size: int) -> str:
    return f"{size / (1 << 20):.0f} MiB"


# Work that its caller can abandon.
#
# LLVM cannot be interrupted: one call takes up to half a minute for the largest models. So it runs in a thread, and
# the caller tests ten times a second whether to go on waiting. If not, the thread is left behind: it finishes its
# current part, which goes to the cache. The start, jobs and the end of Spark run in the same way.
#
# The thread is not a daemon. A process that exits while LLVM works destroys LLVM's global objects, and crashes; so
# the interpreter waits for the thread. A program that must exit at once calls `still_working`, and then `os._exit`.


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
