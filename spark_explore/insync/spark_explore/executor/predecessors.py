"""One step backwards: the least state of a level that has a step to a given state, found where the states are."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from insync.machine.kernels import Kernels, least_predecessor
from insync.machine.packed import Words
from insync.spark_explore.executor.worker import Assignment, worker_for
from insync.spark_explore.wire.packets import Kind, rows_of, to_batch

if TYPE_CHECKING:
    import pyarrow as pa

    from insync.spark_explore.executor.level_task import Task

__all__ = ["PredecessorJob", "least_in_pieces", "predecessor_task"]


@dataclass(frozen=True, slots=True)
class PredecessorJob:
    """What to look for: the target, and the level before its own."""

    given: Assignment
    level: int
    target: Words


def predecessor_task(job: PredecessorJob) -> Task:
    """Return the function for `mapInArrow`: it answers a row per partition with its least predecessor, or none."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        worker = worker_for(job.given)
        for batch in batches:
            for row in rows_of(batch):
                pieces = worker.states.pieces(row.partition, job.level)
                found = least_in_pieces(worker.kernels, pieces, job.target)
                if found is not None:
                    block = b"".join(word.to_bytes(8, "little") for word in found)
                    yield to_batch([(row.partition, Kind.FOUND, job.level, 1, block)])

    return run


def least_in_pieces(kernels: Kernels, pieces: Iterable[bytes], target: Words) -> Words | None:
    """Return the least of some states that has a step to the target; None if there is none."""
    return least_predecessor(kernels, _ranges(pieces, kernels.sizes.row_bytes), target)


def _ranges(pieces: Iterable[bytes], row_bytes: int) -> Iterator[tuple[int, int]]:
    for piece in pieces:
        held = ctypes.create_string_buffer(piece, len(piece))
        yield ctypes.addressof(held), len(piece) // row_bytes
