"""What a command does while it works: progress on standard error, and Ctrl-C.

Progress is a status line on a terminal, else lines like TLC's at growing intervals.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from types import FrameType
from typing import TypeVar

from insync.cli.terminal import clear_status, emit_error, emit_status, has_status_line, status_shown
from insync.explorer.documents.text import brief, memory, plural, rate, seconds
from insync.explorer.progress import DiskNeed, Phase, Progress, Reporter, WalkProgress, WalkReporter
from insync.runtime.oversight import tells_of_place

__all__ = [
    "Steps",
    "progress_line",
    "search_progress",
    "status_line",
    "steps_of_work",
    "stop_on_interrupt",
    "tell_place",
    "walk_line",
    "walk_progress",
]

P = TypeVar("P", Progress, WalkProgress)

_PERIOD_SECONDS = 1.0
_SHARE = 4  # the next line of a log follows after this fraction, 1/4, of the time so far
_LONGEST_SECONDS = 300.0  # the longest interval between lines of a log


def search_progress(
    quiet: bool, first: str = "", which: Callable[[], str] | None = None
) -> AbstractContextManager[Reporter | None]:
    """Return a context manager that yields the reporter of a search, or None if `quiet`.

    Args:
        quiet: whether to show nothing.
        first: the activity until the first report, if that can take long.
        which: returns the name of the current search, if there are several.
    """

    def line(progress: Progress) -> str:
        if has_status_line():
            return (which() if which is not None else "") + status_line(progress)
        return progress_line(progress, time.strftime("%Y-%m-%d %H:%M:%S"))

    return _progress(quiet, first, line)


def walk_progress(quiet: bool, first: str = "") -> AbstractContextManager[WalkReporter | None]:
    """Return a context manager that yields the reporter of a simulation; see `search_progress`."""
    return _progress(quiet, first, walk_line)


@contextmanager
def _progress(quiet: bool, first: str, line: Callable[[P], str]) -> Iterator[Callable[[P], None] | None]:
    with steps_of_work(quiet) as steps:
        if first:
            steps.begin(first)

        pace = Pace()

        def show(progress: P) -> None:
            if begins := getattr(progress, "begins", ""):
                steps.begin(begins)
                return
            steps.end()
            if getattr(progress, "phase", None) is Phase.DISK:
                emit_error(line(progress))  # not overwritten, even on a terminal
            elif pace.due(_subject(progress)):
                emit_status(line(progress))

        yield None if quiet else show


@contextmanager
def steps_of_work(quiet: bool) -> Iterator[Steps]:
    """Yield a `Steps`, which shows the steps of some work, and where a model's code hangs; `quiet` shows nothing."""
    steps = Steps(quiet)
    token = tells_of_place.set(None if quiet else tell_place)
    try:
        yield steps
    finally:
        tells_of_place.reset(token)
        steps.end()
        clear_status()


def tell_place(place: str) -> None:
    """Show where a model's code is that does not return."""
    emit_status(f"Progress: reading {place}.")


def _subject(progress: Progress | WalkProgress) -> str:
    if not isinstance(progress, Progress):
        return ""
    return f"{progress.phase} {'' if progress.phase is Phase.COMPILE else progress.subject}"


class Pace:
    """Decides which reports a log shows: at growing intervals, and each with a new subject. A terminal shows all."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._next = self._began
        self._known: set[str] = set()

    def due(self, subject: str = "") -> bool:
        """Return whether to show a report on a subject now."""
        now = time.perf_counter()
        if has_status_line():
            return True
        if now < self._next and subject in self._known:
            return False
        self._known.add(subject)
        self._next = now + pause_after(now - self._began)
        return True


def pause_after(spent: float) -> float:
    """Return the interval until the next line of a log, given the time since the work began, in seconds."""
    return min(max(0.9 * _PERIOD_SECONDS, spent / _SHARE), _LONGEST_SECONDS)


class Steps:
    """Shows from a thread the current step of work that does not report progress itself, and lines about steps.

    A step is shown with the time so far after its first second: every second on a terminal, else at growing intervals.
    """

    def __init__(self, quiet: bool) -> None:
        self._quiet, self._over, self._pace = quiet, threading.Event(), Pace()
        self._thread: threading.Thread | None = None

    def begin(self, text: str) -> None:
        """End the current step, if there is one, and begin another."""
        self.end()
        if self._quiet:
            return
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._repeat, args=(text, self._over), daemon=True)
        self._thread.start()

    def tell(self, line: str) -> None:
        """End the current step, and show a line about it: on a terminal at once, in a log at growing intervals."""
        self.end()
        if not self._quiet and self._pace.due():
            emit_status(line)

    def end(self) -> None:
        """End the current step."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def _repeat(self, text: str, over: threading.Event) -> None:
        began, pause = time.perf_counter(), _PERIOD_SECONDS
        while not over.wait(pause):
            emit_status(f"Progress: {text}, {seconds(time.perf_counter() - began)} so far.")
            spent = time.perf_counter() - began
            pause = _PERIOD_SECONDS if has_status_line() else max(_PERIOD_SECONDS, pause_after(spent))


def walk_line(progress: WalkProgress) -> str:
    """Return the progress of a simulation as a line."""
    if not progress.walks and not progress.steps:
        return (
            f"Progress: compiling the model for {seconds(progress.seconds)}, {memory(progress.memory_bytes)} of memory."
        )
    seen = "" if progress.abstract_states is None else f"{plural(progress.abstract_states, 'abstract state')}, "
    return (
        f"Progress: {plural(progress.steps, 'step')} checked ({rate(progress.steps_per_second, 'steps')}), "
        f"{plural(progress.walks, 'walk')} taken, {seen}{memory(progress.memory_bytes)} of memory."
    )


def progress_line(progress: Progress, now: str) -> str:
    """Return the progress of a search as a line of a log."""
    if progress.phase is Phase.COMPILE:
        spent, used = seconds(progress.seconds), memory(progress.memory_bytes)
        doing = progress.subject or "compiling the model"
        return f"Progress(0) at {now}: {doing} for {spent}, {used} of memory."
    if progress.phase is Phase.START:
        return f"Progress({progress.level}) at {now}: Spark's workers start, and each compiles the model."
    if progress.phase is Phase.DECIDE:
        return f"Progress: deciding {progress.subject} on {plural(progress.distinct_states, 'state')}."
    if progress.phase is Phase.DISK:
        return f"Progress({progress.level}) at {now}: {_disk(progress)}"
    again = "; searching again, for the trace" if progress.phase is Phase.TRACE else _end(progress)
    return (
        f"Progress({progress.level}) at {now}: "
        f"{plural(progress.distinct_states, 'distinct state')} found ({rate(progress.states_per_second, 'states')}), "
        f"{plural(progress.frontier, 'state')} left on queue, {memory(progress.memory_bytes)} of memory"
        f"{again}."
    )


def _disk(progress: Progress) -> str:
    """Return the sentence about a search that continues from disk, with an estimate of space and time."""
    need = progress.disk
    assert need is not None, "the phase DISK comes with it"
    limit = memory(progress.memory_limit)
    begun = f"the limit of {limit} on the memory is reached, and the search goes on from sorted files on disk"
    if not need.bytes:
        return (
            f"{begun}: with about {need.state_bytes:.0f} bytes a state there is room for "
            f"{brief(need.free / need.state_bytes)} states in the {memory(need.free)} that are free; how many are to "
            f"come cannot be estimated yet{_least(need)}."
        )
    enough = "" if need.bytes <= need.free else ", which is not enough"
    return (
        f"{begun}: in the end about {memory(need.bytes)} of the {memory(need.free)} that are free{enough}, in about "
        f"{seconds(need.seconds)} more."
    )


def _least(need: DiskNeed) -> str:
    """Return the estimate for the next level, for a search whose end cannot be estimated."""
    if not need.least_states:
        return ""
    size = memory(round(need.least_states * need.state_bytes))
    return (
        f", but with the next level about {brief(need.least_states)}, which take {size} on disk, and about "
        f"{seconds(need.million_seconds)} for each million that is new"
    )


def _end(progress: Progress) -> str:
    """Return the estimate of the end of the search, or the growth of its levels."""
    if progress.end is None:
        grown = f"; the level has {progress.growth:.2f} states for each of the last one" if progress.growth else ""
        return grown if progress.disk is None else f"{grown}; the end cannot be estimated yet{_least(progress.disk)}"
    about = f"; about {plural(progress.end.levels, 'level')}"
    if progress.disk is not None:
        need = progress.disk
        return (
            f"{about}, {brief(progress.end.states)} states and {memory(need.bytes)} on disk at the end, where "
            f"{memory(need.free)} are free, in about {seconds(need.seconds)} more"
        )
    if not progress.memory_limit:
        return f"{about} and {brief(progress.end.states)} states at the end"
    return (
        f"{about}, {brief(progress.end.states)} states and {memory(progress.memory_at_end)} at the end, "
        f"of the {memory(progress.memory_limit)} that it may take"
    )


def status_line(progress: Progress) -> str:
    """Return the progress of a search as a status line, with the most important figures first."""
    if progress.phase is Phase.COMPILE:
        doing = progress.subject or "compiling the model"
        return f"{doing}: {memory(progress.memory_bytes)}, {seconds(progress.seconds)}"
    if progress.phase is Phase.START:
        return f"Spark's workers start, and each compiles the model: {seconds(progress.seconds)}"
    if progress.phase is Phase.DECIDE:
        return progress_line(progress, "")
    if progress.phase is Phase.DISK:
        return f"level {progress.level}: {_disk(progress)}"
    if progress.phase is Phase.TRACE:
        return f"searching again, for the trace: level {progress.level}, {brief(progress.distinct_states)} states"
    of_levels = of_states = in_the_end = ""
    if progress.end is not None:
        of_levels = f" of about {progress.end.levels}"
        of_states = f" of about {brief(progress.end.states)}"
        if progress.memory_limit:
            in_the_end = f", at the end about {memory(progress.memory_at_end)} of {memory(progress.memory_limit)}"
    elif progress.growth:
        of_levels = f", {progress.growth:.2f} times the last"
    return (
        f"level {progress.level}{of_levels}; {brief(progress.distinct_states)}{of_states} states; "
        f"{memory(progress.memory_bytes)}{in_the_end}; {brief(progress.states_per_second)}/s; "
        f"{brief(progress.frontier)} to expand; {seconds(progress.seconds)}"
    )


# --------------------------------------------------------------------------------------------------------------- Ctrl-C
#
# The first one during a search stops the search, which reports what is complete; the second ends the process.


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
