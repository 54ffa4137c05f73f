"""Breadth-first search that continues with sorted files when memory is full.

Duplicates are then detected once a level, by merging sorted files (delayed duplicate detection: Stern & Dill 1998,
Korf 2003). Estimates of the disk and the time that this takes are part of the progress.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from insync.explorer.progress import DiskNeed, Phase, Progress, Reporter, last_growth
from insync.explorer.search.breadth_first import BreadthFirstSearch
from insync.explorer.search.explored import Explored
from insync.explorer.search.run_directory import RunDirectory
from insync.machine.kernels import Kernels
from insync.machine.packed import PackedRows
from insync.machine.store_kernels import code_kernels, order_kernels
from insync.machine.stores.external import ExternalStore
from insync.machine.stores.row_encoding import FORMS, CodeRows, RowForm, StateRows, code_form
from insync.machine.stores.run_files import RunFiles
from insync.machine.stores.sorted_rows import BLOCK, OrderKernels, RowBuffer, RowScratch
from insync.machine.stores.store import InsertOutcome
from insync.model.domains.layout import Schema
from insync.runtime.watch import StopReason, Watch
from insync.runtime.workers import Team

__all__ = [
    "DiskSearch",
    "disk_need",
]


LEAST_ROWS = 1 << 12
"""The fewest rows of a buffer: with fewer, the files on disk would be many and small."""

SLOWER = 2.0
"""The factor by which a new state takes longer on disk than in memory, at most."""

MOST_BUFFER_BYTES = 1 << 27
"""The largest buffer of a partition; when it is full, its rows are sorted and written in a few bytes each."""

_BESIDE_BUFFERS = 1 << 24  # bytes that writing files takes for a while
_LEFT = 4  # one part in this many of the free memory is for what grows: dictionaries and indexes
_ROW_BYTES = 3.0  # on disk for a code: see benchmarks/README.md
_WIDE = 0.35  # bytes on disk for each byte of a state without a code
_MORE = 2.2  # times that, as merged files and candidates lie beside the files of the levels
_PASS_SECONDS = 4e-9  # to read a known state, once a level


def forms_for(schema: Schema) -> list[str]:
    """Return the names of the row forms that states can have, in the order of `FORMS`."""
    return [form.name for form in FORMS] if code_kernels(schema).digits else [StateRows.name]


def least_room(name: str, schema: Schema, counts: tuple[int, int]) -> int:
    """Return the fewest bytes of memory that `sorted_partitions` needs; `counts` is (partitions, threads)."""
    return _beside_rows(name, schema, counts) + -(
        -LEAST_ROWS * _bytes_a_row(name, schema, counts) * _LEFT // (_LEFT - 1)
    )


def _beside_rows(name: str, schema: Schema, counts: tuple[int, int]) -> int:
    """The bytes of memory that are neither buffers nor grow."""
    (partitions, threads), kernels = counts, _kernels(name, schema)
    readers = 2 * partitions * (kernels.row_bytes + 9 * kernels.words + 8 * schema.words)
    return _BESIDE_BUFFERS + BLOCK * (readers + 3 * threads * kernels.row_bytes)


def _bytes_a_row(name: str, schema: Schema, counts: tuple[int, int]) -> int:
    """The bytes that a row takes in all buffers and in the memory for sorting them."""
    (partitions, threads), row_bytes = counts, _kernels(name, schema).row_bytes
    return partitions * row_bytes + threads * (row_bytes + 1)


def _kernels(name: str, schema: Schema) -> OrderKernels:
    return order_kernels(schema.words if name == StateRows.name else CodeRows.words)


def sorted_partitions(
    files: RunFiles, name: str, schema: Schema, counts: tuple[int, int], room: int, stopped: Callable[[], bool]
) -> list[ExternalStore] | None:
    """Return empty partitions in sorted files; None if memory has no room for their buffers.

    Args:
        files: of the run.
        name: the form of the rows.
        schema: of the states.
        counts: the numbers of partitions and of threads.
        room: bytes of memory for all partitions.
        stopped: called again and again; True stops the work on a file.
    """
    partitions, threads = counts
    kernels = _kernels(name, schema)
    left = (room - _beside_rows(name, schema, counts)) * (_LEFT - 1) // _LEFT
    capacity = min(MOST_BUFFER_BYTES // kernels.row_bytes, left // _bytes_a_row(name, schema, counts))
    if capacity < LEAST_ROWS:
        return None
    scratches = [RowScratch(kernels.row_bytes, capacity) for _ in range(min(threads, partitions))]
    made = []
    for number in range(partitions):
        buffer = RowBuffer(kernels, capacity, scratches[number % threads])
        form = _form(name, schema)
        made.append(ExternalStore(files, number, form, kernels, buffer, schema.words, stopped))
    return made


def _form(name: str, schema: Schema) -> RowForm:
    if name == StateRows.name:
        return StateRows(schema.words)
    form = code_form(name)
    return form(code_kernels(schema, form.rounds).codec())


def foretold_bytes(name: str, words: int) -> float:
    """Return an estimate of the bytes that a state takes on disk.

    Args:
        name: the form of the rows.
        words: 64-bit words per packed state.
    """
    return _MORE * (_WIDE * 8 * words if name == StateRows.name else _ROW_BYTES)


def disk_need(
    folder: Path, state_bytes: float, levels: Sequence[int], progress: Progress, slower: float = SLOWER
) -> DiskNeed:
    """Return an estimate of the disk and the time that the rest of a search takes.

    If `progress` has no estimate of the end, the result is about the next level, taken to grow as the last one did.

    Args:
        folder: the run directory.
        state_bytes: bytes of a state on disk.
        levels: the number of states of each complete level.
        progress: of the search so far.
        slower: the factor by which a new state takes longer from now on.
    """
    free, end, known = shutil.disk_usage(folder).free, progress.end, sum(levels)
    if not known:
        return DiskNeed(free, state_bytes)
    new_seconds = progress.seconds / known * slower
    if end is None:
        to_come = max(1, round(levels[-1] * last_growth(levels)))
        each = new_seconds + (known + to_come) * _PASS_SECONDS / to_come
        return DiskNeed(free, state_bytes, least_states=known + to_come, million_seconds=1e6 * each)
    to_come, more = max(0, end.states - known), max(0, end.levels - len(levels))
    passes = more * (known + end.states) / 2 * _PASS_SECONDS
    return DiskNeed(free, state_bytes, round(max(known, end.states) * state_bytes), to_come * new_seconds + passes)


# --------------------------------------------------------------------------------------------------------- the search


class DiskSearch(BreadthFirstSearch):
    """One exhaustive search that writes its levels to a run directory; see `BreadthFirstSearch`.

    When memory is full, the complete levels become sorted files, and the level that was being expanded is expanded
    again. Such a run is resumed with sorted files, whatever memory there is by then.
    """

    def __init__(
        self,
        kernels: Kernels,
        watch: Watch,
        team: Team,
        partitions: int,
        initials: PackedRows,
        keep_going: bool,
        reporter: Reporter | None,
        schema: Schema,
        kept: RunDirectory,
    ) -> None:
        super().__init__(kernels, watch, team, partitions, initials, keep_going, reporter, schema, kept)
        self._levels, self._schema = kept, schema

    def _search_all(self) -> None:
        if self._levels.manifest.on_disk:
            beside = sum(each.untouched_bytes for each in self.expanders)
            self._close_workers()
            counts = (self.partitions, self.team.size)
            use = f"sorted files with threads={self.team.size} and partitions={self.partitions}"
            self.watch.require_room(beside + least_room(self._levels.manifest.encoding, self._schema, counts), use)
        else:
            super()._search_all()
            if self.space.stopped_by is not StopReason.MEMORY or not self.space.levels:
                return
        self._go_on_disk()

    def _go_on_disk(self) -> None:
        manifest = self._levels.manifest
        progress = super()._progress(0, 0.0)
        self.space.release()  # before anything is compiled
        forms = forms_for(self._schema)
        name = manifest.encoding if manifest.on_disk else forms[0]
        if not manifest.on_disk:
            self._tell(name, progress)
        self._search_with(name)
        for wider in forms[forms.index(name) + 1 :]:
            if self._failed is InsertOutcome.NO_CODES:
                self._go_over_to(wider)

    def _go_over_to(self, name: str) -> None:
        """Search with rows of another form, as codes of the present form became too wide."""
        kept, before = self._levels, self.space
        for partition in before.partitions:
            assert isinstance(partition, ExternalStore)
            partition.only_read()
        kept.previous = before.partitions if kept.manifest.encoding != StateRows.name else ()
        self._tell(name, super()._progress(0, 0.0))
        self._search_with(name)
        before.release()

    def _tell(self, name: str, progress: Progress) -> None:
        """Report an estimate of what sorted files of a form will take."""
        if self.reporter is not None:
            each = foretold_bytes(name, self.kernels.sizes.words)
            need = disk_need(self._levels.folder.path, each, self._known().visited, progress)
            self.reporter(replace(progress, phase=Phase.DISK, disk=need))

    def _progress(self, pending: int, rate: float) -> Progress:
        """Return the progress; on disk with an estimate of the disk and the time that are needed."""
        progress, levels = super()._progress(pending, rate), self.space.visited
        size = sum(each.disk_bytes for each in self.space.partitions if isinstance(each, ExternalStore))
        if not size or not levels:
            return progress
        need = disk_need(self._levels.folder.path, size / sum(levels), levels, progress, slower=1.0)
        return replace(progress, disk=need)

    def _known(self) -> Explored:
        """Return the complete levels, without their states."""
        return self._levels.known

    def _search_with(self, name: str) -> None:
        """Search with sorted files of one form; if memory has no room for their buffers, stop at once."""
        self._lost = self._to_code = None
        self._begin_with(())
        room = self.watch.room - sum(each.untouched_bytes for each in self.expanders)
        counts = (self.partitions, self.team.size)
        made = sorted_partitions(self._levels.files, name, self._schema, counts, room, self._is_stopped)
        if made is None:
            self._close_workers()
            self._lost = StopReason.MEMORY
            self.space = replace(self._known(), stopped_by=self._lost)
            return
        self.space.partitions = list(made)
        self._search()

    def _is_stopped(self) -> bool:
        return self.watch.reason() is not None
