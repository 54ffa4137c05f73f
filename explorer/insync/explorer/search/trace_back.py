"""The traces of violations: from a state back to an initial one, by the least predecessor in each earlier level.

Each earlier level is expanded again, so the search keeps no predecessors. The trace is the same for any number of
workers and partitions.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence

from insync.explorer.results import Violation
from insync.explorer.search.breadth_first import BreadthFirstSearch
from insync.explorer.search.explored import Explored
from insync.explorer.stepping.stepper import Move, moves_through
from insync.explorer.traces.trace import Trace, refusal_trace
from insync.machine.kernels import least_predecessor
from insync.machine.packed import Words
from insync.machine.stores.store import Chunk
from insync.model import Model
from insync.model.evaluator import Codes
from insync.runtime.errors import InternalError

__all__ = ["StepBack", "path_to", "traced_back", "violations_in"]

StepBack = Callable[[Words, int], Words | None]
"""Returns the least state of a level that has a step to a state; None if there is none."""


def path_to(
    model: Model,
    search: BreadthFirstSearch,
    target: Words,
    level: int,
    start: Codes | None = None,
) -> list[Move]:
    """Return a shortest sequence of moves from an initial state to a state; see `traced_back`.

    Args:
        model: the searched model.
        search: the search that has ended.
        target: the state.
        level: the level of the state; that of the initial states is 1.
        start: the state that the search began in, if that is not an initial one.

    Raises:
        Stopped: the levels were not kept, and the search that finds them again was stopped.
        UserError: the disk has no room for the levels.
    """
    space, kernels = search.readable(), search.kernels

    def step_back(state: Words, earlier: int) -> Words | None:
        if (state, earlier) in search.predecessors:
            return search.predecessors[state, earlier]
        chunks = deque(chunk for partition in space.partitions for chunk in partition.chunks(earlier))
        found: list[Words | None] = []
        search.team.run(lambda _: found.append(least_predecessor(kernels, _loaded(chunks), state)))
        before = min((least for least in found if least is not None), default=None)
        search.predecessors[state, earlier] = before
        return before

    return traced_back(model, target, level, step_back, kernels.representative, start)


def _loaded(chunks: deque[Chunk]) -> Iterator[tuple[int, int]]:
    """Yield (address, count) of the chunks that no other thread has taken."""
    while chunks:
        try:
            chunk = chunks.popleft()
        except IndexError:  # another thread was faster
            return
        yield chunk.load()


def traced_back(
    model: Model,
    target: Words,
    level: int,
    step_back: StepBack,
    representative: Callable[[Words], Words] = lambda state: state,
    start: Codes | None = None,
) -> list[Move]:
    """Return a shortest sequence of moves from an initial state to a state.

    The least packed predecessor is taken, and the bound action with the smallest number that leads on from it. The
    moves are those of the evaluator. If the states are representatives, the moves lead through states of their orbits.

    Args:
        model: the searched model.
        target: the state.
        level: the level of the state; that of the initial states is 1.
        step_back: finds the predecessors.
        representative: returns the representative of a state.
        start: the state that the search began in, if that is not an initial one.

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


def violations_in(
    model: Model,
    explored: Explored,
    path_to: Callable[[Words, int], Sequence[Move]],
    trace: Callable[[int, Sequence[Move]], Trace],
) -> tuple[Violation, ...]:
    """Return the traces of all violations, the shortest first, then in the order of the properties.

    Args:
        model: the searched model.
        explored: the searched space.
        path_to: returns the moves from an initial state to a state of a level.
        trace: returns the trace of moves to a state in which a property fails, by the property's number in `explored`.

    Raises:
        InternalError: the evaluator does not confirm a violation.
    """
    traces = [trace(number, path_to(hit.least, hit.level)) for number, hit in sorted(explored.violations.items())]
    if explored.refused is not None:
        traces.append(refusal_trace(model, path_to(explored.refused.least, explored.refused.level)))
    found = [Violation(trace.property, trace.length, trace) for trace in traces]
    return tuple(sorted(found, key=lambda violation: violation.trace_length))
