"""Files of states in a run directory on Spark, from lists of packed states."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Sequence

from insync.machine.packed import PackedRows, Words
from insync.machine.stores.run_files import RunFiles, Span, StatesWriter

__all__ = ["read_states", "write_level", "write_start"]


def write_start(states: RunFiles, partition: int, levels: Sequence[Sequence[Words]]) -> bytes:
    """Write the levels of the driver, merged and one after the other, as it does; return the digest."""
    spans = []
    if len(levels) > 1:
        with states.merging(partition, 1, len(levels)) as merged:
            _append(merged, [state for level in levels for state in level])
        spans = [Span(1, len(levels), merged.count, merged.digest)]
    with states.writing_states(partition, 1, spans) as writer:
        for number, level in enumerate(levels):
            if number:
                writer.next_level()
            _append(writer, level)
    return writer.digest


def write_level(
    states: RunFiles, partition: int, level: int, packed: Sequence[Words], spans: Sequence[Span] = ()
) -> bytes:
    """Write the states of a level after those of the driver; return the digest."""
    with states.writing_states(partition, level, spans) as writer:
        _append(writer, packed)
    return writer.digest


def read_states(states: RunFiles, partition: int, level: int) -> list[Words]:
    """Return the states of a level, in the order of its file."""
    found = []
    for address, count in states.states(partition, level):
        numbers = array("Q", ctypes.string_at(address, 8 * states.words * count))
        found += [tuple(numbers[at : at + states.words]) for at in range(0, len(numbers), states.words)]
    states.close()
    return found


def _append(writer: StatesWriter, packed: Sequence[Words]) -> None:
    rows = PackedRows(sorted(packed))
    writer.append(rows.address, rows.count)
