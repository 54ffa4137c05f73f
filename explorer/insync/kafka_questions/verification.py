"""Entries of the catalogue, searched with and without their fix, one after the other or in parallel processes."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.synchronize import Event
from typing import TYPE_CHECKING

from insync.explorer import Reporter
from insync.kafka.defects import Defect, all_defects
from insync.kafka_questions.defects import DefectFound, breaks_as_listed, search_defect
from insync.kafka_questions.documents.defects import broken_words, fixed_words
from insync.runtime.child_processes import modules_of_python

if TYPE_CHECKING:
    from insync.kafka_questions.documents.json_types import VerifiedDefect

__all__ = ["EntrySearch", "VerifiedEntry", "verified_entries"]

_WORTH_PROCESSES = 8
"""The least number of entries for which processes are started."""
_LOOK_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class EntrySearch:
    """The settings of the searches: threads, a reporter, and an event that stops them."""

    threads: int | None
    reporter: Reporter | None
    stop: threading.Event

    def broken(self, defect: Defect) -> DefectFound:
        """Search with the defect."""
        return self._searched(defect, defect.witness)

    def fixed(self, defect: Defect) -> DefectFound:
        """Search with its fix."""
        return self._searched(defect, defect.fixed_witness)

    def _searched(self, defect: Defect, bounds: dict[str, int | str]) -> DefectFound:
        return search_defect(defect, bounds, threads=self.threads, reporter=self.reporter, stop=self.stop)


@dataclass(frozen=True, slots=True)
class VerifiedEntry:
    """The result for an entry.

    Attributes:
        outcome: whether the entry is as the catalogue says; None if unknown.
        said: the result in words.
        entry: the result as JSON values.
    """

    outcome: bool | None
    said: str
    entry: VerifiedDefect


def verified_entries(chosen: Sequence[Defect], search: EntrySearch) -> Iterator[VerifiedEntry]:
    """Yield the result for each entry, in their order, until the search is stopped.

    Tracing the models takes most of the time, and is Python code, which threads do not run in parallel. Many entries
    are therefore searched by several processes with one thread each.
    """
    processes = search.threads or os.cpu_count() or 1
    if len(chosen) >= _WORTH_PROCESSES and processes > 1:
        yield from _by_processes(chosen, min(processes, len(chosen)), search.stop)
        return
    for defect in chosen:
        if search.stop.is_set():
            return
        yield _verified(defect, search)


def _verified(defect: Defect, search: EntrySearch) -> VerifiedEntry:
    broken = search.broken(defect)
    breaks, spent = breaks_as_listed(defect, broken), broken.seconds
    steps = None if broken.trace is None else broken.trace.length - 1
    entry: VerifiedDefect = {
        "name": defect.name,
        "steps": steps,
        "states": broken.distinct_states,
        "fixed_states": None,
        "verified": None,
    }
    if search.stop.is_set():
        said = f"{broken_words(defect, broken)}; with the fix not tried; {spent:.1f} s"
        known = None if breaks else breaks
        return VerifiedEntry(known, said, {**entry, "verified": known})
    fixed = search.fixed(defect)
    spent += fixed.seconds
    holds = {"holds": True, "violated": False, "incomplete": None}[fixed.verdict]
    outcome = False if False in (breaks, holds) else None if None in (breaks, holds) else True
    said = f"{broken_words(defect, broken)}; with the fix {fixed_words(fixed)}; {spent:.1f} s"
    return VerifiedEntry(outcome, said, {**entry, "fixed_states": fixed.distinct_states, "verified": outcome})


# ------------------------------------------------------------------------------------------------------ by processes


def _by_processes(chosen: Sequence[Defect], processes: int, stop: threading.Event) -> Iterator[VerifiedEntry]:
    """Yield the result for each entry, in their order. When stopped, entries that have not begun are left out."""
    context = get_context("spawn")
    with modules_of_python():
        stopped = context.Event()
    with ProcessPoolExecutor(processes, context, _begin, (stopped,)) as pool:
        # Ctrl-C reaches the whole process group. The child processes start with it blocked, and leave it to this one.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            with modules_of_python():
                found = [pool.submit(_verified_here, defect.name) for defect in chosen]
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        try:
            for one in found:
                while not _is_there(one):
                    if stop.is_set() and not stopped.is_set():
                        stopped.set()
                        for waiting in found:
                            waiting.cancel()
                entry = None if one.cancelled() else one.result()
                if entry is None:
                    return
                yield entry
        finally:
            stopped.set()
            pool.shutdown(cancel_futures=True)


def _is_there(one: Future[VerifiedEntry | None]) -> bool:
    return bool(wait([one], _LOOK_SECONDS).done)


_stop = threading.Event()
"""In a child process: set when it shall stop."""


def _begin(stopped: Event) -> None:
    """Initialize a child process: ignore Ctrl-C, stop when the parent sets the event, and exit when the parent ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_watch, args=(stopped,), daemon=True).start()


def _watch(stopped: Event) -> None:
    parent = parent_process()
    while parent is not None and parent.is_alive():
        if stopped.is_set():
            _stop.set()
        time.sleep(_LOOK_SECONDS)
    os._exit(1)


def _verified_here(name: str) -> VerifiedEntry | None:
    """Return the result for an entry; None if the search was stopped before it began."""
    return None if _stop.is_set() else _verified(all_defects()[name], EntrySearch(1, None, _stop))
