"""A search whose states outgrow the memory: the parts it is kept in then, and about what they will take."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from insync.explorer.progress import DiskNeed, Progress, last_growth
from insync.machine.kernels import code_kernels, order_kernels
from insync.machine.stores.external import SortedPartition
from insync.machine.stores.row_encoding import FORMS, CodeRows, RowForm, StateRows
from insync.machine.stores.sorted_file import BLOCK, FilePlace, OrderKernels, RowBuffer, RowScratch
from insync.model.domains.layout import Schema

__all__ = ["LEAST_ROWS", "disk_need", "foretold_bytes", "forms_for", "least_room", "sorted_partitions"]

LEAST_ROWS = 1 << 12
"""How many rows a buffer has at least: with fewer, the files beside would be many and small."""

SLOWER = 2.0
"""How many times the seconds that a new state takes in memory it takes on disk, at most."""

MOST_BUFFER_BYTES = 1 << 27
"""How large the buffer of a partition is at most: what does not fit is sorted, and written in a few bytes."""

_BESIDE_BUFFERS = 1 << 24  # bytes that are taken and given back while files are written
_LEFT = 4  # of the memory that is left, one part in so many is for what grows: dictionaries and indexes
_ROW_BYTES = 3.0  # on disk, of a code: see benchmarks/README.md
_WIDE = 0.35  # on disk, of a state that has no code, for each byte of its words
_MORE = 1.3  # times that: what came and is not sorted in yet
_PASS_SECONDS = 4e-9  # to read a state that is known, once a level


def forms_for(schema: Schema) -> list[str]:
    """Return what rows of these states can be, in the order of `FORMS`."""
    return [form.name for form in FORMS] if code_kernels(schema).digits else [StateRows.name]


def least_room(name: str, schema: Schema, counts: tuple[int, int]) -> int:
    """Return how many bytes of memory sorted files need at least; see `sorted_partitions`."""
    return _beside_rows(name, schema, counts[0]) + -(
        -LEAST_ROWS * _bytes_a_row(name, schema, counts) * _LEFT // (_LEFT - 1)
    )


def _beside_rows(name: str, schema: Schema, partitions: int) -> int:
    """The bytes of what is not a buffer, and does not grow."""
    kernels = _kernels(name, schema)
    return _BESIDE_BUFFERS + 2 * partitions * BLOCK * (kernels.row_bytes + 9 * kernels.words + 8 * schema.words)


def _bytes_a_row(name: str, schema: Schema, counts: tuple[int, int]) -> int:
    """The bytes of a row in each of the buffers, and in what these are sorted with."""
    (partitions, threads), row_bytes = counts, _kernels(name, schema).row_bytes
    return partitions * row_bytes + threads * (row_bytes + 1)


def _kernels(name: str, schema: Schema) -> OrderKernels:
    return order_kernels(schema.words if name == StateRows.name else CodeRows.words)


def sorted_partitions(
    place: FilePlace, name: str, schema: Schema, counts: tuple[int, int], room: int, stopped: Callable[[], bool]
) -> list[SortedPartition] | None:
    """Return partitions without states; None if there is no room for their buffers.

    Args:
        place: where their files are.
        name: what their rows are.
        schema: of the states.
        counts: how many partitions there are, and how many threads.
        room: bytes of memory that there are for them.
        stopped: asked again and again whether to give up.
    """
    partitions, threads = counts
    kernels = _kernels(name, schema)
    left = (room - _beside_rows(name, schema, partitions)) * (_LEFT - 1) // _LEFT
    capacity = min(MOST_BUFFER_BYTES // kernels.row_bytes, left // _bytes_a_row(name, schema, counts))
    if capacity < LEAST_ROWS:
        return None
    scratches = [RowScratch(kernels.row_bytes, capacity) for _ in range(min(threads, partitions))]
    made = []
    for number in range(partitions):
        buffer = RowBuffer(kernels, capacity, scratches[number % threads])
        form = _form(name, schema)
        made.append(SortedPartition(place, number, form, kernels, buffer, schema.words, stopped))
    return made


def _form(name: str, schema: Schema) -> RowForm:
    if name == StateRows.name:
        return StateRows(schema.words)
    form = next(form for form in FORMS if form.name == name)
    assert issubclass(form, CodeRows)
    return form(code_kernels(schema, form.rounds).codec())


def foretold_bytes(name: str, words: int) -> float:
    """Return about how many bytes a state will take on disk.

    Args:
        name: what the rows are.
        words: 64-bit words per packed state.
    """
    return _MORE * (_WIDE * 8 * words if name == StateRows.name else _ROW_BYTES)


def disk_need(
    folder: Path, state_bytes: float, levels: Sequence[int], progress: Progress, slower: float = SLOWER
) -> DiskNeed:
    """Return about what the rest of a search takes, where the levels so far say so, and else what its next level takes.

    That one is taken to grow as the last one did.

    Args:
        folder: the run directory.
        state_bytes: on disk, of a state.
        levels: the states of each complete level.
        progress: of the search by now.
        slower: how many times the seconds that a new state took by now.
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
