"""Progress on standard error about once a second, worded like TLC's line: level, time, distinct states, frontier."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from insync.cli.show.figures import count, memory, plural, rate, seconds
from insync.cli.show.terminal import emit_error

if TYPE_CHECKING:
    from insync.explorer.progress import Progress, Reporter, WalkProgress, WalkReporter

__all__ = ["progress_line", "progress_reporter", "walk_line", "walk_reporter"]


def progress_reporter(quiet: bool) -> Reporter | None:
    """Return what prints the progress of a search, or None with `--quiet`."""
    return None if quiet else _print


def walk_reporter(quiet: bool) -> WalkReporter | None:
    """Return what prints the progress of a simulation, or None with `--quiet`."""
    return None if quiet else lambda progress: emit_error(walk_line(progress))


def walk_line(progress: WalkProgress) -> str:
    """Return the line for where a simulation is."""
    return (
        f"Progress: {plural(progress.steps, 'step')} checked ({rate(progress.steps_per_second, 'steps')}), "
        f"{plural(progress.walks, 'walk')} taken, {memory(progress.memory_bytes)} of memory."
    )


def _print(progress: Progress) -> None:
    emit_error(progress_line(progress, time.strftime("%Y-%m-%d %H:%M:%S")))


def progress_line(progress: Progress, now: str) -> str:
    """Return the line for where a search is."""
    if progress.level == 0:
        spent, used = seconds(progress.seconds), memory(progress.memory_bytes)
        return f"Progress(0) at {now}: compiling the model for {spent}, {used} of memory."
    return (
        f"Progress({progress.level}) at {now}: "
        f"{count(progress.distinct_states)} distinct states found ({rate(progress.states_per_second, 'states')}), "
        f"{count(progress.frontier)} states left on queue, {memory(progress.memory_bytes)} of memory."
    )
