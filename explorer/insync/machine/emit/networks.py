"""Sorting a few records without a branch, for generated code: Batcher's merge exchange, unrolled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from insync.machine.emit.builder import I64, Function, Value
from insync.machine.emit.memory import rows_less

__all__ = ["Record", "exchanges", "same_keys", "sorted_records"]

Record = list[Value]
"""Words that are compared, the first word first, and after them words that are only carried along."""


def exchanges(count: int) -> Iterator[tuple[int, int]]:
    """Yield which places to compare and exchange, in order, so that any so many records become sorted."""
    power = 1
    while power < count:
        step = power
        while step:
            for start in range(step % power, count - step, 2 * step):
                for place in range(start, min(start + step, count - step)):
                    if place // (2 * power) == (place + step) // (2 * power):
                        yield place, place + step
            step //= 2
        power *= 2


def sorted_records(b: Function, records: Sequence[Record], compared: int) -> list[Record]:
    """Return records in ascending order of their first so many words."""
    made = [list(record) for record in records]
    for low, high in exchanges(len(made)):
        first, second = made[low], made[high]
        wrong = rows_less(second[:compared], first[:compared])
        made[low] = [b.select(wrong, y, x) for x, y in zip(first, second, strict=True)]
        made[high] = [b.select(wrong, x, y) for x, y in zip(first, second, strict=True)]
    return made


def same_keys(b: Function, records: Sequence[Record], compared: int) -> list[Value]:
    """Return for each sorted record how many in a row have its key, up to itself."""
    runs = [b.typed(I64, 1)]
    for before, record in pairwise(records):
        same = before[0].equals(record[0])
        for x, y in zip(before[1:compared], record[1:compared], strict=True):
            same = same & x.equals(y)
        runs.append(b.select(same, runs[-1] + 1, b.typed(I64, 1)))
    return runs
