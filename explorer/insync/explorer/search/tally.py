"""Counting over the states of a searched space, level by level: how many of them meet each of some conditions."""

from __future__ import annotations

from collections.abc import Sequence

from insync.explorer.search.explored import Space
from insync.explorer.search.workers import Team
from insync.machine.conditions import Counter
from insync.machine.kernels import Kernels
from insync.model.expressions.graph import Node, Op

__all__ = ["count_states", "negated"]


def negated(conditions: Sequence[Node]) -> list[Node]:
    """Return what the kernels of `count_states` are compiled with: they count what does not hold."""
    return [node.graph.node(Op.NOT, (node,)) for node in conditions]


def count_states(kernels: Kernels, space: Space, team: Team) -> list[int]:
    """Return in how many states of the complete levels each condition holds.

    Args:
        kernels: with the part COUNT, compiled with the conditions `negated`.
        space: what was searched, by whichever kernels for states of this size.
        team: the threads that work.
    """
    counters: list[Counter] = [kernels.counter() for _ in range(team.size)]

    def count(worker: int) -> None:
        for partition in space.whole[worker :: team.size]:
            counters[worker].count(partition.store.address(0), partition.starts[-1])

    try:
        team.run(count)
        return [sum(found) for found in zip(*(counter.take() for counter in counters), strict=True)]
    finally:
        for counter in counters:
            counter.close()
