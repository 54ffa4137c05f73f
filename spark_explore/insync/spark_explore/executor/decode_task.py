"""The task that writes the states of a partition in place of their codes, so that Spark goes on with a run.

A search on one machine whose memory was full has codes in its files. They are one to one with the states, but their
numbers depend on the order in which states arrived: a task that runs twice could not write the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from insync.machine.store_kernels import order_kernels
from insync.machine.stores.external_sort import KnownRows, RowReader
from insync.machine.stores.row_encoding import code_form
from insync.machine.stores.run_files import name_of
from insync.spark_explore.executor.worker import Assignment, Worker, worker_for
from insync.spark_explore.wire.packets import Kind, Row, rows_of, to_batch

if TYPE_CHECKING:
    import pyarrow as pa

    from insync.spark_explore.executor.level_task import Task

__all__ = ["DecodeJob", "decode_task"]


@dataclass(frozen=True, slots=True)
class DecodeJob:
    """The parameters of the tasks: the encoding of the files, and how many levels there are."""

    given: Assignment
    encoding: str
    levels: int


def decode_task(job: DecodeJob) -> Task:
    """Return the function for `mapInArrow` that decodes all levels of a partition."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        worker = worker_for(job.given)
        for batch in batches:
            for row in rows_of(batch):
                yield from _decoded(job, worker, row)

    return run


def _decoded(job: DecodeJob, worker: Worker, row: Row) -> Iterator[pa.RecordBatch]:
    form_of = code_form(job.encoding)
    files, candidates, partition = worker.states, worker.candidates, row.partition
    form = form_of(worker.codes(form_of.rounds).codec())
    reader = RowReader(form, order_kernels(form.words), files.words)
    try:
        for level in range(1, job.levels + 1):
            counted = files.counted.digest_of(level, partition)
            file = files.opened(job.encoding, partition, level, level, counted, form.words)
            form.take_up(file.said, file.values)
            candidates.clear()
            errors = partial(files.folder.reading, name_of(job.encoding, partition, level, level))
            for address, count in reader.all_states(KnownRows.of(file, errors)):
                candidates.insert(address, count)
            with files.writing_states(partition, level, None) as writer:
                for address, count in candidates.new(partition, ()):
                    writer.append(address, count)
            yield to_batch([(partition, Kind.DECODED, level, writer.count, writer.digest)])
    finally:
        form.close()
        files.close()
