"""Codes in the place of the states of all partitions at once: in all or in none."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from insync.explorer.search.partitions import CodedPartition, StateRuns, WholePartition, coded
from insync.explorer.search.workers import Team
from insync.machine.kernels import code_kernels
from insync.machine.ownership import Ownership
from insync.machine.stores.compressed import Turns
from insync.model.domains.layout import Schema

__all__ = ["all_coded", "even"]

_EVEN = 1.1  # times the mean: how many states a partition may have, that its worker is not waited for long


def all_coded(
    whole: Sequence[WholePartition],
    schema: Schema,
    rounds: int,
    team: Team,
    level_bytes: int,
    keep: bool,
    ownership: Ownership | None = None,
) -> list[CodedPartition] | None:
    """Return partitions as codes, which are not changed; None if in one of them codes are too wide, or save nothing.

    Args:
        whole: the partitions, between two levels.
        schema: of their states.
        rounds: how often two parts of a state are numbered together; see `components.digits_of`.
        team: the threads that work.
        level_bytes: how much address space a level of a partition may take.
        keep: whether to keep the levels.
        ownership: says which partition has a state from now on; without it, that which has it.

    Raises:
        UserError: there is no room on the disk for the levels.
    """
    kernels = code_kernels(schema, rounds)
    made: dict[int, CodedPartition | None] = {}

    def encode(worker: int) -> None:
        for number in range(worker, len(whole), team.size):
            levels = (_of(whole, number, level, ownership) for level in range(1, len(whole[number].starts)))
            made[number] = coded(whole[number], levels, kernels, level_bytes, keep)

    team.run(encode)
    codes = [partition for _, partition in sorted(made.items()) if partition is not None]
    if len(codes) == len(whole):
        turns = Turns()
        for partition in codes:
            partition.store.turns = turns
        return codes
    for partition in codes:
        partition.close()
    return None


def even(ownership: Ownership | None, whole: Sequence[WholePartition], team: Team) -> Ownership | None:
    """Return who is to own the states of partitions, if none gets many more than another; else None."""
    if ownership is None or len(whole) == 1:
        return None
    counts = [0] * len(whole)

    def count(worker: int) -> None:
        for number in range(worker, len(whole), team.size):
            levels = range(1, len(whole[number].starts))
            counts[number] = sum(some for level in levels for _, some in _of(whole, number, level, ownership))

    team.run(count)
    return ownership if max(counts) * len(counts) <= _EVEN * sum(counts) else None


def _of(whole: Sequence[WholePartition], number: int, level: int, ownership: Ownership | None) -> StateRuns:
    """The states of a level that a partition has."""
    if ownership is None:
        return whole[number].rows(level)
    return ownership.owned(chain.from_iterable(each.rows(level) for each in whole), number)
