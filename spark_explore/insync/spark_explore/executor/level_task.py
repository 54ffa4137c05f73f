"""The task of a level for one partition: insert the candidates, check the new states, and expand them.

The task is a function of the run directory and its input, and is idempotent: a level that is in the run directory is
read from there. Also the task that finds the least predecessor of a state.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from insync.machine.kernels import Kernels, least_predecessor
from insync.machine.packed import Words
from insync.runtime.errors import InternalError
from insync.spark_explore.executor.known_states import KnownTable
from insync.spark_explore.executor.sending import Packet
from insync.spark_explore.executor.worker import Assignment, Worker, worker_for
from insync.spark_explore.wire.packets import Kind, Row, closed_block, expanded_block, figures_block, rows_of, to_batch

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "LevelJob",
    "PredecessorJob",
    "Task",
    "least_in_pieces",
    "level_task",
    "predecessor_task",
]


Task = Callable[[Iterator["pa.RecordBatch"]], Iterator["pa.RecordBatch"]]
_OutputRow = tuple[int, Kind, int, int, object]


@dataclass(frozen=True, slots=True)
class LevelJob:
    """The parameters of the tasks of a stage.

    Attributes:
        given: what the driver hands to the tasks.
        level: the level.
        inserts: whether the level is made from candidates; else it exists already.
        expands: whether the level is expanded.
    """

    given: Assignment
    level: int
    inserts: bool
    expands: bool


def level_task(job: LevelJob) -> Task:
    """Return the function for `mapInArrow` that makes or expands a level."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from _LevelTask(job, worker_for(job.given)).run(batches)

    return run


class _LevelTask:
    def __init__(self, job: LevelJob, worker: Worker) -> None:
        self.job, self.worker = job, worker
        self.figures: dict[str, float] = {"level": job.level, "bytes_in": 0, "bytes_out": 0, "send": 0}

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = (row for batch in batches for row in rows_of(batch))
        first = next(rows, None)
        if first is None:
            return
        self.started = time.thread_time()
        with self.worker.tables.table(first.partition) as table:
            yield from self._work(table, first, rows)

    def _work(self, table: KnownTable, first: Row, rows: Iterator[Row]) -> Iterator[pa.RecordBatch]:
        job, tables = self.job, self.worker.tables
        said: list[_OutputRow] = []
        before, loaded, digest = table.levels, tables.loaded, b""
        if job.inserts:
            there = table.levels >= job.level or self.worker.states.has(table.partition, job.level)
            if not there:
                tables.load(table, job.level - 1)
            said = self._take(table, first, rows, insert=not there)
            digest = self.worker.states.digest_of(table.partition, job.level) if there else self._close(table)
        else:
            for _ in rows:
                pass
        tables.load(table, job.level)
        self.figures["loaded"] = tables.loaded - loaded
        if table.levels != before:
            tables.commit(table)
        if job.inserts:
            said.append(self._check(table, digest))
        if job.expands:
            yield from self._expand(table)
            said.append(self._expanded(table))
        self.figures["seconds"] = time.thread_time() - self.started
        said.append((table.partition, Kind.FIGURES, job.level, 0, figures_block(self.figures)))
        yield to_batch(said)

    def _take(self, table: KnownTable, first: Row, rows: Iterator[Row], insert: bool) -> list[_OutputRow]:
        """Insert the candidates; return the other rows, which are passed on to the driver."""
        passing: list[_OutputRow] = []
        spent = 0.0
        row: Row | None = first
        while row is not None:
            if row.partition != table.partition:
                message = f"Rows of the partitions {table.partition} and {row.partition} came to one task."
                raise InternalError(message)
            if row.kind not in (Kind.PACKET, Kind.CODES):
                passing.append((row.partition, row.kind, row.level, row.count, row.block))
            elif insert and row.count:
                began = time.thread_time()
                for address, count in self.worker.received(row):
                    self.worker.tables.insert(table, address, count)
                spent += time.thread_time() - began
                self.figures["bytes_in"] += row.size
            row = next(rows, None)
        self.figures["insert"] = spent
        return passing

    def _close(self, table: KnownTable) -> bytes:
        """Make a level of the new states, and write it to the run directory; return the digest of the file.

        The states are written in order, so a task that runs twice writes the same file.
        """
        import pyarrow as pa

        began = time.thread_time()
        tables, states, level = self.worker.tables, self.worker.states, self.job.level
        tables.close_level(table)
        row_bytes, ordered = self.worker.kernels.sizes.row_bytes, tables.ordered(table, level)
        rows = (memoryview(pa.foreign_buffer(address, count * row_bytes)) for address, count in ordered if count)
        digest = states.write(table.partition, [table.count(level)], rows, level)
        self.figures["write"] = time.thread_time() - began
        return digest

    def _check(self, table: KnownTable, digest: bytes) -> _OutputRow:
        began, level = time.thread_time(), self.job.level
        checker, kernels, states, outside = self.worker.checker, self.worker.kernels, 0, 0
        checker.take()
        for address, count in table.pieces(level):
            checker.check(address, count)
            states += kernels.states_of(address, count)
            outside += kernels.outside_of(address, count)
        block = closed_block(digest, states, outside, checker.take(), kernels.sizes.words)
        self.figures["check"] = time.thread_time() - began
        return table.partition, Kind.CLOSED, level, table.count(level), block

    def _expand(self, table: KnownTable) -> Iterator[pa.RecordBatch]:
        """Yield the packets of the next level's candidates."""
        expander, row_bytes = self.worker.expander, self.worker.kernels.sizes.row_bytes
        expander.clear()
        expander.forget()
        expander.take_steps()
        expander.take_refused()
        expander.take_stepless()
        sending, spent = self.worker.sending(table.count(self.job.level)), 0.0
        for address, count in table.pieces(self.job.level):
            while count:
                began = time.thread_time()
                done = expander.expand(address, count)
                spent += time.thread_time() - began
                address, count = address + done * row_bytes, count - done
                if count:  # a buffer is full
                    yield from self._sent(sending.take(expander))
                    expander.clear()
        yield from self._sent(sending.take(expander))
        expander.clear()
        yield from self._sent(sending.rest())
        self.figures["expand"] = spent

    def _sent(self, packets: Iterator[Packet]) -> Iterator[pa.RecordBatch]:
        """Yield packets; the block of a packet of codes is copied before the next one overwrites it."""
        made: list[_OutputRow] = []
        while (packet := self._next(packets)) is not None:
            partition, kind, count, block = packet
            made.append((partition, kind, self.job.level + 1, count, block))
            self.figures["bytes_out"] += block.size
            if kind is Kind.CODES:
                yield to_batch(made)
                made = []
        if made:
            yield to_batch(made)

    def _next(self, packets: Iterator[Packet]) -> Packet | None:
        began = time.perf_counter()
        packet = next(packets, None)
        self.figures["send"] += time.perf_counter() - began
        return packet

    def _expanded(self, table: KnownTable) -> _OutputRow:
        expander, words = self.worker.expander, self.worker.kernels.sizes.words
        refused = expander.take_refused()
        block = expanded_block(expander.take_steps(), refused, expander.take_stepless(), words)
        return table.partition, Kind.EXPANDED, self.job.level, table.known(self.job.level), block


# --------------------------------------------------------------------------------------------------------- predecessors


@dataclass(frozen=True, slots=True)
class PredecessorJob:
    """The parameters of a search for a predecessor: the target, and the level before its own."""

    given: Assignment
    level: int
    target: Words


def predecessor_task(job: PredecessorJob) -> Task:
    """Return the function for `mapInArrow` that yields the least predecessor in each partition that has one."""

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
