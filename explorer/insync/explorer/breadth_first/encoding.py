"""Codes in the place of the states of all partitions at once: in all or in none."""

from __future__ import annotations

from collections.abc import Sequence

from insync.explorer.breadth_first.partitions import CodedPartition, WholePartition, coded
from insync.explorer.breadth_first.workers import Team
from insync.machine.code_kernels import code_kernels
from insync.model.schema import Schema

__all__ = ["all_coded"]


def all_coded(
    whole: Sequence[WholePartition], schema: Schema, rounds: int, team: Team, level_bytes: int, keep: bool
) -> list[CodedPartition] | None:
    """Return partitions as codes, which are not changed; None if in one of them codes are too wide, or save nothing.

    Args:
        whole: the partitions, between two levels.
        schema: of their states.
        rounds: how often two parts of a state are numbered together; see `components.digits_of`.
        team: the threads that work.
        level_bytes: how much address space a level of a partition may take.
        keep: whether to keep the levels.

    Raises:
        UserError: there is no room on the disk for the levels.
    """
    kernels = code_kernels(schema, rounds)
    made: dict[int, CodedPartition | None] = {}

    def encode(worker: int) -> None:
        for number in range(worker, len(whole), team.size):
            made[number] = coded(whole[number], kernels, level_bytes, keep)

    team.run(encode)
    codes = [partition for _, partition in sorted(made.items()) if partition is not None]
    if len(codes) == len(whole):
        return codes
    for partition in codes:
        partition.close()
    return None
