"""From a state back to an initial one: expand each earlier level again and take the least predecessor.

Nothing is kept for it during the search, and the result is the same for any number of workers and partitions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from insync.explorer.breadth_first.search import Space
from insync.explorer.breadth_first.workers import Team
from insync.explorer.evaluator.stepping import Move, moves_through
from insync.machine.kernels import Kernels
from insync.machine.packed import Words
from insync.machine.predecessors import CHUNK, least_predecessor
from insync.model import Model
from insync.model.errors import InternalError
from insync.model.evaluator import Codes

__all__ = ["StepBack", "path_to", "traced_back"]

StepBack = Callable[[Words, int], Words | None]
"""Gives the least state of a level that has a step to a state; None if there is none."""


def path_to(
    model: Model,
    kernels: Kernels,
    space: Space,
    team: Team,
    target: Words,
    level: int,
    start: Codes | None = None,
) -> list[Move]:
    """Return a shortest sequence of moves from an initial state to a state; see `traced_back`.

    Args:
        model: what was searched.
        kernels: its compiled program.
        space: the searched space.
        team: the threads that work.
        target: the state.
        level: the level it is in, that of the initial states being 1.
        start: the state that the search began in, where that is not an initial one.
    """

    def step_back(state: Words, earlier: int) -> Words | None:
        # Threads may share the iterator of a list: each takes the next chunk that nobody has.
        chunks = iter(list(_chunks(space, earlier)))
        found: list[Words | None] = []
        team.run(lambda _: found.append(least_predecessor(kernels, chunks, state)))
        return min((least for least in found if least is not None), default=None)

    return traced_back(model, target, level, step_back, kernels.representative, start)


def _chunks(space: Space, level: int) -> Iterator[tuple[int, int]]:
    """Yield addresses and counts of states that cover a level."""
    for partition in space.partitions:
        start, end = partition.starts[level - 1], partition.starts[level]
        for place in range(start, end, CHUNK):
            yield partition.store.address(place), min(CHUNK, end - place)


def traced_back(
    model: Model,
    target: Words,
    level: int,
    step_back: StepBack,
    representative: Callable[[Words], Words] = lambda state: state,
    start: Codes | None = None,
) -> list[Move]:
    """Return a shortest sequence of moves from an initial state to a state.

    Of all predecessors the least packed state is taken, and of several actions that lead on the one with the smallest
    number. The moves are those of the evaluator. Where states are representatives, the moves lead through states that
    these stand for.

    Args:
        model: what was searched.
        target: the state.
        level: the level it is in, that of the initial states being 1.
        step_back: finds the predecessors.
        representative: gives the state that stands for a state.
        start: the state that the search began in, where that is not an initial one.

    Raises:
        InternalError: there is no predecessor, or the evaluator does not confirm a step of the machine code.
    """
    states = [target]
    for earlier in range(level - 1, 0, -1):
        before = step_back(states[-1], earlier)
        if before is None:
            message = f"No state of level {earlier} leads to {states[-1]}."
            raise InternalError(message)
        states.append(before)
    states.reverse()
    schema = model.program.schema
    return moves_through(
        model,
        [schema.unpack(state) for state in states],
        lambda codes: schema.unpack(representative(schema.pack(codes))),
        start,
    )
