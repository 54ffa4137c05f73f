"""What may stop a search before the space is complete, and the watch over it."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from insync.machine.interruptible import GivenUp
from insync.machine.memory import available_memory, resident_memory
from insync.model.errors import UserError

__all__ = ["Limits", "StopReason", "Watch", "limits_of", "require_room", "require_seconds_alone", "require_whole"]


class StopReason(StrEnum):
    """The bound that ended a search; of random walks also that they had seen no new abstract state for long."""

    DEPTH = "depth"
    STATES = "states"
    TIME = "time"
    MEMORY = "memory"
    INTERRUPT = "interrupt"
    SATURATION = "saturation"

    @classmethod
    def of(cls, ended: GivenUp) -> Self:
        """Return the bound for which work was given up."""
        return cls(str(ended.reason))


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a search; None means no bound.

    Attributes:
        depth: levels, the initial state being level 1.
        states: distinct states; the search ends with the level in which they are reached.
        seconds: of compilation and search together.
        memory_bytes: resident set of the process. None lets it take nine tenths of the memory that is free.

    Raises:
        UserError: seconds below 0, or something else that is not a whole number of at least 1.
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
    """Raise UserError unless a value is a whole number in a range; `given` is the argument as it was written."""
    number = value if isinstance(value, int) and not isinstance(value, bool) else least - 1
    if number < least or (most is not None and number > most):
        allowed = f"of at least {least}" if most is None else f"from {least} to {most}"
        message = f"{given} is out of range; give a whole number {allowed}."
        raise UserError(message)


def limits_of(given: Limits | None) -> Limits:
    """Return the limits that a verb was given; None means no limit.

    Raises:
        UserError: it was given something else.
    """
    if given is not None and not isinstance(given, Limits):
        message = f"limits={given!r} is not a Limits; write limits=Limits(seconds=60), say."
        raise UserError(message)
    return given or Limits()


def require_seconds_alone(limits: Limits | None, what: str, instead: str = "") -> Limits:
    """Return the limits of what knows no other than the one on seconds.

    Args:
        limits: the limits; None means no limit.
        what: what is limited, for the message.
        instead: a sentence on what else limits it.

    Raises:
        UserError: there is another limit.
    """
    given = limits_of(limits)
    for name in ("depth", "states", "memory_bytes"):
        if (value := getattr(given, name)) is not None:
            message = f"Limits({name}={value}) does not limit {what}; the only limit is Limits(seconds=...).{instead}"
            raise UserError(message)
    return given


_TELLING_SECONDS = 1.0
_STEP = 10 << 20  # a figure that is too little is answered by a round one: what Python takes is not the same each time


class Watch:
    """Says when a search has to stop.

    Args:
        limits: its bounds.
        stop: set by whoever asks for the end.
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
        """Return the watch over the same search once more, to a depth, which takes what it takes."""
        return Watch(Limits(depth=depth, memory_bytes=self.limits.memory_bytes), self._stop)

    @property
    def seconds(self) -> float:
        """How long the search has been running."""
        return time.perf_counter() - self.started

    @property
    def room(self) -> int:
        """How many bytes of memory may be taken besides what is taken; not positive where there are none."""
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
        """Whether somebody has asked for the end, which is urgent as a limit on the time is not."""
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
        """Return why walks must stop at once, if they must: time, interrupt, or memory where they keep what grows."""
        return self.interrupted() or (StopReason.MEMORY if grows and self.is_full else None)

    @contextmanager
    def telling(self, tell: Callable[[], None] | None) -> Iterator[None]:
        """Call `tell` about once a second within the block, whenever the watch is asked whether to stop.

        It is for work that asks often and says nothing itself: a compilation, a decision about runs.
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
        """Return why the search must not go on after a complete level, if it must not: depth or states."""
        if self.limits.depth is not None and depth >= self.limits.depth:
            return StopReason.DEPTH
        if self.limits.states is not None and states >= self.limits.states:
            return StopReason.STATES
        return None

    def reaches(self, depth: int, states: int) -> bool:
        """Return whether the limits on depth and states let a search come so far."""
        return not (
            (self.limits.depth is not None and depth > self.limits.depth)
            or (self.limits.states is not None and states > self.limits.states)
        )

    def settle(self) -> None:
        """Note that what was promised by `may_use` is in memory by now, or never will be."""
        self._promised = 0

    def require_room(self, needed: int = 0, use: str = "") -> None:
        """Raise UserError if a limit on the memory leaves no room to work in: a search must come beyond one state.

        Args:
            needed: bytes that are touched before anything comes of the work.
            use: what they are for, in words.
        """
        require_room(self.limits, resident_memory(), needed, use)

    def may_use(self, size: int) -> bool:
        """Promise so many more bytes of memory, if they are within the bound; called from any thread."""
        with self._lock:
            if resident_memory() + self._promised + size > self.memory_bytes:
                return False
            self._promised += size
            return True


def _nothing() -> None:
    pass


def require_room(limits: Limits, taken: int, needed: int, use: str) -> None:
    """Raise UserError if a limit on the memory leaves no room to work in.

    Args:
        limits: with or without one.
        taken: bytes within it that are taken before the search begins.
        needed: bytes that are touched before anything comes of the work.
        use: what they are for, in words.
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
