"""The task of a simulation: the walks of some numbers, taken in order, up to the first share with a failure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from insync.machine.kernels import load
from insync.machine.walker import FailedWalk, Strategy, Walked, merged
from insync.spark_explore.wire.packets import Kind, rows_of, to_batch
from insync.spark_explore.wire.recipe import read_recipe
from insync.spark_explore.wire.version import require_version

if TYPE_CHECKING:
    import pyarrow as pa

    from insync.spark_explore.executor.level_task import Task

__all__ = ["Tour", "read_walked", "walk_task"]


@dataclass(frozen=True, slots=True)
class Tour:
    """Walks to take: those of the numbers from `first` to `end`, in shares of `share` walks, over some partitions.

    A partition takes a contiguous part of the shares.
    """

    seed: int
    depth: int
    first: int
    end: int
    share: int
    partitions: int
    strategy: Strategy = Strategy.MIXED

    def shares(self, partition: int) -> range:
        """Return the first walk of each share of a partition."""
        count = -(-(self.end - self.first) // self.share)
        begin, end = (count * place // self.partitions for place in (partition, partition + 1))
        return range(self.first + begin * self.share, self.first + end * self.share, self.share)


def walk_task(version: str, recipe: bytes, tour: Tour) -> Task:
    """Return the function for `mapInArrow`: it answers a row per partition that has walks.

    Args:
        version: the insync that simulates.
        recipe: of the part WALK, as `write_recipe` wrote it.
        tour: the walks.
    """

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        require_version(version)
        for batch in batches:
            for row in rows_of(batch):
                walked = _walk(recipe, tour, row.partition)
                if walked is not None:
                    yield to_batch([(row.partition, Kind.WALKED, 0, sum(walked.lengths.values()), _block(walked))])

    return run


def _walk(written: bytes, tour: Tour, partition: int) -> Walked | None:
    recipe = read_recipe(written)
    walker = load(recipe.texts).walker(recipe.initials, tour.seed, tour.depth, tour.strategy)
    parts: list[Walked] = []
    try:
        for first in tour.shares(partition):
            parts = [merged([*parts, walker.walk(first, min(first + tour.share, tour.end))])]
            if parts[0].failed is not None:
                break
    finally:
        walker.close()
    return parts[0] if parts else None


def _block(walked: Walked) -> bytes:
    failed = walked.failed and [
        walked.failed.number,
        walked.failed.property,
        walked.failed.actions,
        walked.failed.start,
    ]
    return json.dumps([walked.steps, [*walked.lengths.items()], walked.stuck, failed]).encode()


def read_walked(block: bytes) -> Walked:
    """Return what a task answered."""
    steps, lengths, stuck, failed = json.loads(block)
    walk = None if failed is None else FailedWalk(failed[0], failed[1], tuple(failed[2]), failed[3])
    return Walked(tuple(steps), dict(lengths), stuck, walk)
