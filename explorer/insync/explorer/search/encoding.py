"""From states to codes: copies of the partitions of a large space with collapse-compressed states."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from insync.machine.expander import Ownership
from insync.machine.kernels import Kernels
from insync.machine.store_kernels import code_kernels
from insync.machine.stores.collapse import rest_masks
from insync.machine.stores.compressed import CompressedStore, Turns, coded
from insync.machine.stores.hash_table import HashTableStore
from insync.machine.stores.store import StateRuns
from insync.model.domains.layout import Schema
from insync.runtime.workers import Team

__all__ = ["all_coded", "evenly_owned"]

_EVEN = 1.1  # times the mean: the most states of a partition; with more, the others wait for its worker


def all_coded(
    whole: Sequence[HashTableStore],
    schema: Schema,
    rounds: int,
    team: Team,
    level_bytes: int,
    keep: bool,
    ownership: Ownership | None = None,
) -> list[CompressedStore] | None:
    """Return copies of all partitions as codes; None if codes of any of them are too wide, or save nothing.

    Args:
        whole: the partitions, between two levels; they are not changed.
        schema: of their states.
        rounds: how often neighbouring parts of a state are numbered as pairs; see `digits_of`.
        team: the threads that work.
        level_bytes: address space that a level of a partition may take, in bytes.
        keep: whether to keep the levels.
        ownership: decides which partition owns a state from now on; without it, the owners stay.

    Raises:
        UserError: the disk has no room for the levels.
    """
    kernels = code_kernels(schema, rounds)
    made: dict[int, CompressedStore | None] = {}

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


def evenly_owned(kernels: Kernels, schema: Schema, whole: Sequence[HashTableStore], team: Team) -> Ownership | None:
    """Return ownership by the bits that belong to no large element; None if it divides the states unevenly.

    Most steps do not change these bits, so that most successors stay in their partition.

    Args:
        kernels: the compiled program.
        schema: of the states.
        whole: the partitions, which divide the states by all bits so far.
        team: the threads that work.
    """
    masks = rest_masks(schema)
    if len(whole) == 1 or not any(masks):
        return None
    ownership, counts = kernels.ownership(masks, len(whole)), [0] * len(whole)

    def count(worker: int) -> None:
        for number in range(worker, len(whole), team.size):
            levels = range(1, len(whole[number].starts))
            counts[number] = sum(some for level in levels for _, some in _of(whole, number, level, ownership))

    team.run(count)
    return ownership if max(counts) * len(counts) <= _EVEN * sum(counts) else None


def _of(whole: Sequence[HashTableStore], number: int, level: int, ownership: Ownership | None) -> StateRuns:
    """The states of a level that a partition owns."""
    if ownership is None:
        return whole[number].rows(level)
    return ownership.owned(chain.from_iterable(each.rows(level) for each in whole), number)
