"""The task of a simulation: it takes a range of walks in order, up to the first share with a failure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from insync.machine.kernels import load
from insync.machine.walker import FailedWalk, Sightings, Strategy, Walked, Walker, merged
from insync.spark_explore.wire.code_bundle import read_recipe, require_version
from insync.spark_explore.wire.packets import Kind, rows_of, to_batch

if TYPE_CHECKING:
    import pyarrow as pa

    from insync.spark_explore.executor.level_task import Task

__all__ = ["Tour", "read_walked", "walk_task"]

_PIECE = 1 << 24  # the most bytes of a row of abstract states: Spark has no rows of gigabytes


@dataclass(frozen=True, slots=True)
class Tour:
    """A range of walks, from number `first` to before `end`, in shares of `share` walks.

    Each of the partitions takes a contiguous range of shares.
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

    def walks(self, partition: int) -> tuple[int, int]:
        """Return the first walk of a partition, and the number after its last; it must have a share."""
        shares = self.shares(partition)
        return shares[0], min(shares[-1] + self.share, self.end)


def walk_task(version: str, recipe: bytes, tour: Tour) -> Task:
    """Return the function for `mapInArrow`: it yields a row per partition with walks, and rows of abstract states.

    Args:
        version: the version of insync that the driver runs.
        recipe: the code of the part WALK, from `write_recipe`.
        tour: the walks.
    """

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        require_version(version)
        for batch in batches:
            for row in rows_of(batch):
                walked, seen = _walk(recipe, tour, row.partition)
                if walked is not None:
                    yield to_batch([(row.partition, Kind.WALKED, 0, sum(walked.lengths.values()), _block(walked))])
                for count, piece in seen:
                    yield to_batch([(row.partition, Kind.SEEN, 0, count, piece)])

    return run


def _walk(written: bytes, tour: Tour, partition: int) -> tuple[Walked | None, Sequence[tuple[int, bytes]]]:
    """Take the walks of a partition; return their result, and (count, entries) pieces of abstract states."""
    recipe = read_recipe(written)
    kernels = load(recipe.texts)
    walker = Walker.of(kernels, recipe.initials, tour.seed, tour.depth, tour.strategy)
    seen = Sightings.of(kernels) if recipe.sizes.abstract_words else None
    parts: list[Walked] = []
    try:
        for first in tour.shares(partition):
            parts = [merged([*parts, walker.walk(first, min(first + tour.share, tour.end))])]
            if seen is not None:
                seen.absorb(walker.seen, first, tour.share)
            if parts[0].failed is not None:
                break
        return (parts[0] if parts else None), ([] if seen is None else _pieces(seen))
    finally:
        walker.close()
        if seen is not None:
            seen.close()


def _pieces(seen: Sightings) -> list[tuple[int, bytes]]:
    most, size = _PIECE // seen.entry_bytes, seen.entry_bytes
    entries = seen.entries
    starts = range(0, len(seen), most)
    return [(min(most, len(seen) - start), entries[start * size : (start + most) * size]) for start in starts]


def _block(walked: Walked) -> bytes:
    failed = walked.failed and [
        walked.failed.number,
        walked.failed.property,
        walked.failed.actions,
        walked.failed.start,
    ]
    return json.dumps([walked.steps, [*walked.lengths.items()], walked.stuck, failed]).encode()


def read_walked(block: bytes) -> Walked:
    """Return the result of walks from the block of a WALKED row."""
    steps, lengths, stuck, failed = json.loads(block)
    walk = None if failed is None else FailedWalk(failed[0], failed[1], tuple(failed[2]), failed[3])
    return Walked(tuple(steps), dict(lengths), stuck, walk)
