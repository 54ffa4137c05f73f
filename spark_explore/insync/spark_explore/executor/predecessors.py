"""One step backwards: the least state of a level that has a step to a given state, found where the states are."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from insync.machine.kernels import Kernels
from insync.machine.packed import Rows, Words, words_at
from insync.spark_explore.executor.worker import RunPlace, worker_for
from insync.spark_explore.wire.packets import Kind, rows_of, to_batch
from insync.spark_explore.wire.run_folder import RunFolder

if TYPE_CHECKING:
    import pyarrow as pa

    from insync.spark_explore.executor.level_task import Task

__all__ = ["PredecessorJob", "least_predecessor", "level_pieces", "predecessor_task"]

_CHUNK = 512
_BUFFER_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class PredecessorJob:
    """What to look for: the target, and the level before its own."""

    place: RunPlace
    level: int
    target: Words


def predecessor_task(job: PredecessorJob) -> Task:
    """Return the function for `mapInArrow`: it answers a row per partition with its least predecessor, or none."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        worker = worker_for(job.place)
        for batch in batches:
            for row in rows_of(batch):
                pieces = level_pieces(worker.run, job.place.warm, row.partition, job.level)
                found = least_predecessor(worker.kernels, pieces, job.target)
                if found is not None:
                    block = b"".join(word.to_bytes(8, "little") for word in found)
                    yield to_batch([(row.partition, Kind.FOUND, job.level, 1, block)])

    return run


def level_pieces(run: RunFolder, warm: int, partition: int, level: int) -> Iterator[bytes]:
    """Yield the states of a partition in a level, from the run directory."""
    first, last = (1, warm) if level <= warm else (level, level)
    file = run.open_states(partition, first, last)
    try:
        yield from file.pieces(level)
    finally:
        file.close()


def least_predecessor(kernels: Kernels, pieces: Iterable[bytes], target: Words) -> Words | None:
    """Return the least of some states that has a step to the target; None if there is none."""
    hunt = _Hunt(kernels, target)
    try:
        for piece in pieces:
            held = ctypes.create_string_buffer(piece, len(piece))
            hunt.search(ctypes.addressof(held), len(piece) // kernels.sizes.row_bytes)
    finally:
        hunt.close()
    return min(hunt.found, default=None)


class _Hunt:
    def __init__(self, kernels: Kernels, target: Words) -> None:
        self.kernels = kernels
        self._row = Rows([target])
        # The target is the one state that the filter of recent states must not know; any state may be in it else, and
        # a copy of it with one bit flipped is as good as any.
        self._expander = kernels.expander(1, _BUFFER_BYTES, (target[0] ^ 1, *target[1:]))
        self.found: list[Words] = []

    def search(self, rows: int, count: int) -> None:
        size = self.kernels.sizes.row_bytes
        while count:
            chunk = min(_CHUNK, count)
            while chunk:
                done = self._expand(rows, chunk)
                if self._hit():
                    self._each(rows, done)
                rows, count, chunk = rows + done * size, count - done, chunk - done

    def _each(self, rows: int, count: int) -> None:
        for number in range(count):
            row = rows + number * self.kernels.sizes.row_bytes
            self._expand(row, 1)
            if self._hit():
                self.found.append(words_at(row, self.kernels.sizes.words))

    def _expand(self, rows: int, count: int) -> int:
        self._expander.clear()
        self._expander.forget()
        return self._expander.expand(rows, count)

    def _hit(self) -> bool:
        address, count = self._expander.candidates(0)
        return self.kernels.find(address, count, self._row) is not None

    def close(self) -> None:
        self._expander.close()
