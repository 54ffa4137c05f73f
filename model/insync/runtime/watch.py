"""The watch: limits of work, the reasons to stop early, and threads for work that cannot check limits itself.

Some work is one call that Python cannot interrupt: LLVM for up to half a minute, z3 for hours, a job of Spark. It runs
in a thread of its own, while the caller checks the limits. When there is a reason to stop, LLVM is left behind: its
thread finishes the current part, which goes to the cache. z3 is interrupted until it ends, and a job of Spark is
cancelled.

The threads are not daemons. A process that exits while LLVM works destroys LLVM's global objects, and crashes; so the
interpreter waits for the thread. A program that must exit at once calls `still_working`, and then `os._exit`.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from functools import cached_property
from typing import Generic, TypeVar

from insync.runtime.errors import UserError, shown
from insync.runtime.memory import available_memory, resident_memory

__all__ = [
    "Limits",
    "StopReason",
    "Stopped",
    "Watch",
    "Work",
    "left_behind",
    "limits_of",
    "require_room",
    "require_whole",
    "still_working",
]

T = TypeVar("T")

_LOOK_SECONDS = 0.05
_TELLING_SECONDS = 1.0
_STEP = 10 << 20  # the message names a round figure, as what Python takes is not the same each time


class StopReason(StrEnum):
    """The limit that ended a search; SATURATION ends random walks that have seen no new abstract state for long."""

    DEPTH = "depth"
    STATES = "states"
    TIME = "time"
    MEMORY = "memory"
    INTERRUPT = "interrupt"
    SATURATION = "saturation"


class Stopped(Exception):
    """Work was stopped before it was done. The function that began it catches this and returns a partial result.

    Attributes:
        reason: the limit that stopped the work.
        place: where an author's code was that did not return; else empty.
    """

    def __init__(self, reason: StopReason, place: str = "") -> None:
        super().__init__(reason)
        self.reason, self.place = reason, place


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a search or a proof; None means no bound. A verb refuses those that do not limit its work.

    Attributes:
        depth: levels; the level of the initial states is 1.
        states: distinct states; the search ends with the level in which they are reached.
        seconds: of compilation and search together.
        memory_bytes: the resident set of the process. None adds nine tenths of the memory that is free to what it has.
        query_seconds: of each query of a proof to z3, translation included; one that takes longer is unknown.

    Raises:
        UserError: seconds below 0, or another limit that is not a whole number of at least 1.
    """

    depth: int | None = None
    states: int | None = None
    seconds: float | None = None
    memory_bytes: int | None = None
    query_seconds: float | None = None

    def __post_init__(self) -> None:
        for name in ("depth", "states", "memory_bytes"):
            if (value := getattr(self, name)) is not None:
                require_whole(f"Limits({name}={value!r})", value, 1)
        for name in ("seconds", "query_seconds"):
            value = getattr(self, name)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
                message = f"Limits({name}={value!r}) is not a time; give a number of seconds, such as 60 or 0.5."
                raise UserError(message)

    def after_level(self, depth: int, states: int) -> StopReason | None:
        """Return why a search must stop after a complete level, if it must: depth or states."""
        if self.depth is not None and depth >= self.depth:
            return StopReason.DEPTH
        if self.states is not None and states >= self.states:
            return StopReason.STATES
        return None


_SEARCH = ("depth", "states", "seconds", "memory_bytes")


def limits_of(
    given: Limits | None, what: str = "a search", known: Collection[str] = _SEARCH, instead: str = ""
) -> Limits:
    """Return the limits passed to a verb; None means no limit.

    Args:
        given: the argument of the verb.
        what: the work, for the message.
        known: the names of the limits that the verb obeys.
        instead: a sentence on what else limits the work, for the message.

    Raises:
        UserError: the argument is something else, or has a limit that the verb does not obey.
    """
    if given is not None and not isinstance(given, Limits):
        message = f"limits={given!r} is not a Limits; write limits=Limits(seconds=60), say."
        raise UserError(message)
    limits = given or Limits()
    for field in fields(limits):
        if field.name not in known and (value := getattr(limits, field.name)) is not None:
            those = f"Limits({', '.join(f'{name}=...' for name in known)})"
            only = f"the only limit is {those}" if len(known) == 1 else f"its limits are {those}"
            message = f"Limits({field.name}={value}) does not limit {what}; {only}.{instead}"
            raise UserError(message)
    return limits


def require_whole(given: str, value: object, least: int, most: int | None = None) -> None:
    """Raise UserError unless a value is a whole number in a range; `given` is the argument for the message."""
    number = value if isinstance(value, int) and not isinstance(value, bool) else least - 1
    if number < least or (most is not None and number > most):
        allowed = f"of at least {least}" if most is None else f"from {least} to {most}"
        message = f"{given} is out of range; give a whole number {allowed}."
        raise UserError(message)


class Watch:
    """Checks the limits of work that begins now.

    Args:
        limits: the limits; None means no limit.
        stop: set to end the work.
        threads: how much work with an `interrupt` runs at a time.

    Attributes:
        looked: when the work last looked at its limits.
    """

    def __init__(self, limits: Limits | None = None, stop: threading.Event | None = None, threads: int = 1) -> None:
        if stop is not None and not hasattr(stop, "is_set"):
            message = f"stop={shown(stop)} is not an event; give a threading.Event, or leave it out."
            raise UserError(message)
        self.limits, self.threads, self._stop = limits or Limits(), threads, stop
        self.started = self.looked = time.perf_counter()
        self._slots = threading.Semaphore(threads)
        self._lock = threading.Lock()
        self._promised = 0
        self._tell: Callable[[], None] = _nothing
        self._due = math.inf

    def within(self, seconds: float | None) -> Watch:
        """Return a watch for a part of the work that begins now: it ends after `seconds`, or with the whole work."""
        least = min((limit for limit in (seconds, self.left) if limit is not None), default=None)
        part = Watch(replace(self.limits, seconds=least), self._stop, self.threads)
        part._slots = self._slots
        return part

    def query(self) -> Watch:
        """Return a watch for a query of a proof that begins now."""
        return self.within(self.limits.query_seconds)

    def untimed(self, depth: int | None = None) -> Watch:
        """Return a watch over work that must be done once more, or to its end: without a limit on time."""
        return Watch(Limits(depth=depth, memory_bytes=self.limits.memory_bytes), self._stop)

    def later(self, seconds: float) -> Watch:
        """Return a watch over the same work that has a reason to stop `seconds` after this one first has it."""
        return _LaterWatch(self, seconds)

    # ------------------------------------------------------------------------------------------------ when to stop

    @property
    def seconds(self) -> float:
        """The seconds since the work began."""
        return time.perf_counter() - self.started

    @property
    def left(self) -> float | None:
        """The seconds that are left; None if time is not limited."""
        return None if self.limits.seconds is None else max(0.0, self.limits.seconds - self.seconds)

    @property
    def stopped(self) -> bool:
        """Whether `stop` is set, which is more urgent than a limit on time."""
        return self._stop is not None and self._stop.is_set()

    def reason(self, grows: bool = False) -> StopReason | None:
        """Return why the work must stop at once, if it must: time, interrupt, or memory if what it keeps grows."""
        self.looked = time.perf_counter()
        if self.looked >= self._due:
            self._due = self.looked + _TELLING_SECONDS
            self._tell()
        return self.exceeded(grows)

    def exceeded(self, grows: bool = False) -> StopReason | None:
        """Return the reason that `reason` would return, and report no progress; any thread may call this."""
        if self.stopped:
            return StopReason.INTERRUPT
        if self.limits.seconds is not None and self.seconds >= self.limits.seconds:
            return StopReason.TIME
        return StopReason.MEMORY if grows and self.is_full else None

    def check(self) -> None:
        """Raise Stopped if the work must stop at once."""
        if (reason := self.reason()) is not None:
            raise Stopped(reason)

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

    def allows(self, depth: int, states: int) -> bool:
        """Return whether the limits allow a search of this depth with this number of states."""
        return not (
            (self.limits.depth is not None and depth > self.limits.depth)
            or (self.limits.states is not None and states > self.limits.states)
        )

    # ------------------------------------------------------------------------------- work that cannot check the limits

    def attend(
        self, work: Callable[[], T], interrupt: Callable[[], object] | None = None, patience: float | None = None
    ) -> T:
        """Return the result of work that does not check this watch; see `begin`.

        Raises:
            Stopped: there was a reason to stop before the work began, or the work was left behind.
        """
        self.check()
        return self.begin(work, interrupt, patience).result()

    def begin(
        self, work: Callable[[], T], interrupt: Callable[[], object] | None = None, patience: float | None = None
    ) -> Work[T]:
        """Begin such work in a thread. In the main thread, Ctrl-C would have no effect before the work ends.

        Args:
            work: a function; this thread must not change what it uses meanwhile.
            interrupt: ends the work early; called again and again while there is a reason to stop.
            patience: the seconds from a reason to stop until the work is left behind. None is 0 without `interrupt`.
                With it, None is without end, and at most `threads` such works run at a time.
        """
        return Work(self, work, interrupt, patience)

    # ---------------------------------------------------------------------------------------------------------- memory

    @cached_property
    def memory_bytes(self) -> int:
        """The bytes that the process may take; without a limit, measured at first use."""
        return self.limits.memory_bytes or resident_memory() + available_memory() * 9 // 10

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

    def may_use(self, size: int) -> bool:
        """Promise `size` more bytes of memory if the limit allows it; any thread may call this."""
        with self._lock:
            if resident_memory() + self._promised + size > self.memory_bytes:
                return False
            self._promised += size
            return True

    def end_promises(self) -> None:
        """End all promises of `may_use`: the memory has been taken by now, or is not needed."""
        self._promised = 0

    def require_room(self, needed: int = 0, use: str = "") -> None:
        """Raise UserError if a limit on memory leaves no room to work in; see the function `require_room`.

        Args:
            needed: bytes that the work takes before it has any result.
            use: the use of these bytes, in words.
        """
        require_room(self.limits, resident_memory(), needed, use)


def _nothing() -> None:
    pass


class _LaterWatch(Watch):
    def __init__(self, watch: Watch, seconds: float) -> None:
        super().__init__(watch.limits, watch._stop, watch.threads)
        self.started = watch.started
        self._earlier, self._seconds, self._since = watch, seconds, math.inf

    def reason(self, grows: bool = False) -> StopReason | None:
        if (reason := self._earlier.reason(grows)) is None:
            return None
        self._since = min(self._since, time.perf_counter())
        return reason if time.perf_counter() - self._since >= self._seconds else None


class Work(threading.Thread, Generic[T]):
    """Work under way in a thread; see `Watch.begin`.

    Attributes:
        left_behind: whether the caller waits no longer.
    """

    def __init__(
        self, watch: Watch, work: Callable[[], T], interrupt: Callable[[], object] | None, patience: float | None
    ) -> None:
        super().__init__(name="insync-work", daemon=False)
        self.left_behind = False
        self._watch, self._work, self._interrupt = watch, work, interrupt or _nothing
        self._patience = patience if patience is not None else 0.0 if interrupt is None else math.inf
        self._slots = watch._slots if self._patience == math.inf else nullcontext()
        self._result: Future[T] = Future()
        self.start()

    def run(self) -> None:
        """Do the work; called in its thread."""
        with self._slots:
            if self._result.set_running_or_notify_cancel():
                try:
                    self._result.set_result(self._work())
                except BaseException as error:  # noqa: BLE001  (raised again in the thread that waits)
                    self._result.set_exception(error)

    @property
    def done(self) -> bool:
        """Whether the work is over, or will not begin."""
        return self._result.done()

    def result(self) -> T:
        """Wait for the result; interrupt the work while its watch has a reason to stop.

        Raises:
            Stopped: the work was left behind, or had not begun when there was a reason to stop.
        """
        since = math.inf
        try:
            while wait([self._result], _LOOK_SECONDS).not_done:
                if (reason := self._watch.reason()) is not None:
                    since = min(since, time.perf_counter())
                    if self._result.cancel() or time.perf_counter() - since >= self._patience:
                        raise Stopped(reason)
                    self._interrupt()
        except BaseException:  # Ctrl-C in a program that has no handler for it: z3 must not go on alone
            self.give_up()
            raise
        return self._result.result()

    def give_up(self) -> None:
        """End the work without its result: interrupt it until it ends, or leave it behind."""
        self.left_behind = True
        self._result.cancel()
        while not self.done:
            self._interrupt()
            if self._patience < math.inf:
                return
            time.sleep(_LOOK_SECONDS)


def left_behind() -> bool:
    """Return whether this thread does work for which no caller waits any more."""
    thread = threading.current_thread()
    return isinstance(thread, Work) and thread.left_behind


def still_working() -> bool:
    """Return whether work still runs, such as work left behind, for which the end of this process would wait."""
    return any(isinstance(thread, Work) and not thread.done for thread in threading.enumerate())


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
