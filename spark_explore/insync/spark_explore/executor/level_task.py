"""The task of a level for one partition: merge the candidates with the known states, check the new ones, expand them.

The task is a function of the run directory and its input, and is idempotent: a level that is in the run directory is
read from there. Each new state is written, checked and expanded while it is in memory. A second task finds the least
predecessor of a state.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from insync.machine.kernels import least_predecessor
from insync.machine.packed import Words
from insync.machine.stores.run_files import Span, StatesReader, StatesWriter
from insync.runtime.errors import InternalError
from insync.spark_explore.executor.worker import Assignment, Worker, code_of, worker_for
from insync.spark_explore.wire.packets import (
    Kind,
    Packet,
    Row,
    Sending,
    closed_block,
    expanded_block,
    figures_block,
    rows_of,
    to_batch,
)

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "LevelJob",
    "PredecessorJob",
    "Task",
    "level_task",
    "predecessor_task",
    "start_task",
]


T = TypeVar("T")
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


def start_task(version: str, recipe: bytes) -> Task:
    """Return the function for `mapInArrow` that compiles the code of a recipe, and has no result; see `code_of`."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            code_of(version, recipe)
        yield from ()

    return run


class _LevelTask:
    def __init__(self, job: LevelJob, worker: Worker) -> None:
        self.job, self.worker, self.states = job, worker, worker.states
        self.figures: dict[str, float] = {"level": job.level, "bytes_in": 0, "bytes_out": 0}
        self.figures |= dict.fromkeys(("insert", "find", "check", "expand", "send"), 0.0)
        self._sending: Sending | None = None

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = (row for batch in batches for row in rows_of(batch))
        first = next(rows, None)
        if first is None:
            return
        began, read, written = time.thread_time(), self.states.read_bytes, self.states.written_bytes
        self.partition = first.partition
        self.worker.candidates.clear()
        try:
            yield from self._makes(first, rows) if self.job.inserts else self._expands(rows)
        finally:
            self.states.close()
        self.figures |= {
            "seconds": time.thread_time() - began,
            "bytes_read": self.states.read_bytes - read,
            "bytes_written": self.states.written_bytes - written,
        }
        yield to_batch([(self.partition, Kind.FIGURES, self.job.level, 0, figures_block(self.figures))])

    def _expands(self, rows: Iterator[Row]) -> Iterator[pa.RecordBatch]:
        """Expand a level that is complete."""
        for _ in rows:
            pass
        file = self.states.level(self.partition, self.job.level)
        self.states.remove_superseded(self.partition, file.spans)
        self._begin_expansion(file.count)
        for address, count in file.states(self.job.level):
            yield from self._expand(address, count)
        yield from self._expanded(sum(span.count for span in file.spans))

    def _makes(self, first: Row, rows: Iterator[Row]) -> Iterator[pa.RecordBatch]:
        """Make a level of the candidates, unless that was done; check it, and expand it if the job says so."""
        checker, kernels, states, outside = self.worker.checker, self.worker.kernels, 0, 0
        checker.take()
        there = self.states.has(self.partition, self.job.level)
        known: Sequence[Span] = self.states.level(self.partition, self.job.level - 1).spans
        said = self._take(first, rows, insert=not there)
        with self._level(there, known) as (file, runs):
            for address, count in self._timed_each("find", runs):
                with self._timed("check"):
                    checker.check(address, count)
                    states += kernels.states_of(address, count)
                    outside += kernels.outside_of(address, count)
                if self.job.expands:
                    self._begin_expansion(count)
                    yield from self._expand(address, count)
        block = closed_block(file.digest, states, outside, checker.take(), kernels.sizes.words)
        said.append((self.partition, Kind.CLOSED, self.job.level, file.count, block))
        yield to_batch(said)
        if self.job.expands:
            yield from self._expanded(file.count + sum(span.count for span in known if span.last < self.job.level))

    @contextmanager
    def _level(
        self, there: bool, known: Sequence[Span]
    ) -> Iterator[tuple[StatesReader | StatesWriter, Iterator[tuple[int, int]]]]:
        """Yield the file of the level, and (address, count) runs of its states, which are written when they are new."""
        if there:
            file = self.states.level(self.partition, self.job.level)
            yield file, file.states(self.job.level)
            return
        with self.states.writing_states(self.partition, self.job.level, known) as writer:
            yield writer, self._written(writer, known)

    def _written(self, writer: StatesWriter, known: Sequence[Span]) -> Iterator[tuple[int, int]]:
        def runs() -> Iterator[tuple[int, int]]:
            writer.spans = yield from self.worker.candidates.new(self.partition, known)

        for address, count in runs():
            writer.append(address, count)
            yield address, count

    def _take(self, first: Row, rows: Iterator[Row], insert: bool) -> list[_OutputRow]:
        """Insert the candidates; return the other rows, which are passed on to the driver."""
        passing: list[_OutputRow] = []
        row: Row | None = first
        while row is not None:
            if row.partition != self.partition:
                message = f"Rows of the partitions {self.partition} and {row.partition} came to one task."
                raise InternalError(message)
            if row.kind not in (Kind.PACKET, Kind.CODES):
                passing.append((row.partition, row.kind, row.level, row.count, row.block))
            elif insert and row.count:
                with self._timed("insert"):
                    for address, count in self.worker.received(row):
                        self.worker.candidates.insert(address, count)
                self.figures["bytes_in"] += row.size
            row = next(rows, None)
        return passing

    def _begin_expansion(self, states: int) -> None:
        """Make the sender of candidates, if there is none; `states` are the states of the level, or as many of them."""
        if self._sending is None:
            expander = self.worker.expander
            expander.clear()
            expander.forget()
            expander.take_steps()
            expander.take_refused()
            expander.take_stepless()
            self._sending = self.worker.sending(states)

    def _expand(self, address: int, count: int) -> Iterator[pa.RecordBatch]:
        """Expand states, and yield the packets of the next level's candidates that are full."""
        expander, row_bytes = self.worker.expander, self.worker.kernels.sizes.row_bytes
        assert self._sending is not None
        while count:
            with self._timed("expand"):
                done = expander.expand(address, count)
            address, count = address + done * row_bytes, count - done
            if count:  # a buffer is full
                yield from self._sent(self._sending.take(expander))
                expander.clear()

    def _expanded(self, known: int) -> Iterator[pa.RecordBatch]:
        """Yield the other packets, and what the expansion of the level counted."""
        self._begin_expansion(0)
        expander, words = self.worker.expander, self.worker.kernels.sizes.words
        assert self._sending is not None
        yield from self._sent(self._sending.take(expander))
        expander.clear()
        yield from self._sent(self._sending.rest())
        refused = expander.take_refused()
        block = expanded_block(expander.take_steps(), refused, expander.take_stepless(), words)
        yield to_batch([(self.partition, Kind.EXPANDED, self.job.level, known, block)])

    def _sent(self, packets: Iterator[Packet]) -> Iterator[pa.RecordBatch]:
        """Yield packets; the block of a packet of codes is copied before the next one overwrites it."""
        made: list[_OutputRow] = []
        for partition, kind, count, block in self._timed_each("send", packets):
            made.append((partition, kind, self.job.level + 1, count, block))
            self.figures["bytes_out"] += block.size
            if kind is Kind.CODES:
                yield to_batch(made)
                made = []
        if made:
            yield to_batch(made)

    @contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        began = time.thread_time()
        try:
            yield
        finally:
            self.figures[name] += time.thread_time() - began

    def _timed_each(self, name: str, made: Iterator[T]) -> Iterator[T]:
        """Yield what an iterator yields, and measure the time that it takes for that."""
        while True:
            with self._timed(name):
                found = next(made, None)
            if found is None:
                return
            yield found


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
                runs = worker.states.states(row.partition, job.level)
                found = least_predecessor(worker.kernels, runs, job.target)
                worker.states.close()
                if found is not None:
                    block = b"".join(word.to_bytes(8, "little") for word in found)
                    yield to_batch([(row.partition, Kind.FOUND, job.level, 1, block)])

    return run
