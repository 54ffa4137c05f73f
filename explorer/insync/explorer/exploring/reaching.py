"""Searching on from a state for one in which a condition holds, in machine code, with bounds and an end on request."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass

from insync.explorer.limits import Limits, StopReason, Watch
from insync.explorer.progress import Reporter
from insync.explorer.search.breadth_first import BreadthFirstSearch
from insync.explorer.search.trace_back import path_to
from insync.explorer.search.workers import Team, available_cores
from insync.explorer.stepping.stepper import Move
from insync.machine.interruptible import GivenUp
from insync.machine.kernels import compile_kernels
from insync.machine.packed import PackedRows
from insync.model import Model
from insync.model.evaluator import Codes, evaluate
from insync.model.expressions.graph import Node, Op
from insync.model.expressions.simplify import apply

__all__ = ["Reached", "reach"]


@dataclass(frozen=True, slots=True)
class Reached:
    """What came of a search from a state.

    Attributes:
        moves: the fewest steps to a state in which the condition holds, empty where it holds at the beginning already;
            None where none was found.
        states: how many states were found on the way.
        depth: how many steps away the farthest of them is.
        stopped_by: the limit that ended the search; None where all states were searched, or one was found.
        refused: whether the search ended at a step that its model does not allow, a violation of type_ok.
    """

    moves: Sequence[Move] | None
    states: int = 1
    depth: int = 0
    stopped_by: StopReason | None = None
    refused: bool = False

    @property
    def in_words(self) -> str:
        """All of that as a sentence."""
        searched = f"{_plural(self.states, 'state')}, up to {_plural(self.depth, 'step')} on"
        if self.moves is not None:
            if not self.moves:
                return "It holds here."
            return f"Found after {_plural(len(self.moves), 'step')}, the nearest there is ({searched})."
        if self.refused:
            return f"Not found: the search ended at a step that is refused, so type_ok fails there ({searched})."
        if self.stopped_by is None:
            return f"Nowhere from here on: all states were searched ({searched})."
        ended = "stopped" if self.stopped_by is StopReason.INTERRUPT else f"ended by the limit on {self.stopped_by}"
        return f"Not found before the search was {ended} ({searched})."


def reach(
    model: Model,
    codes: Codes,
    condition: Node,
    limits: Limits,
    stop: threading.Event | None = None,
    reporter: Reporter | None = None,
) -> Reached:
    """Search breadth first from a state for the nearest one in which a condition holds.

    Args:
        model: what to search.
        codes: where to begin.
        condition: on states.
        limits: bounds of the search.
        stop: ends it when it is set.
        reporter: is told how far it is.

    Raises:
        UserError: the limit on the memory leaves no room to work in.
    """
    if evaluate(condition, codes):
        return Reached(())
    watch = Watch(limits, stop)
    program = model.program
    try:
        kernels = compile_kernels(program, [apply(Op.NOT, condition)], stopped=watch.interrupted)
    except GivenUp as ended:
        return Reached(None, stopped_by=StopReason.of(ended))
    beginning = PackedRows([program.schema.pack(codes)])
    with Team(available_cores()) as team:
        search = BreadthFirstSearch(
            kernels, watch, team, team.size, beginning, reporter=reporter, schema=program.schema
        )
        try:
            space = search.run()
            states, depth = sum(space.levels), max(0, len(space.levels) - 1)
            hit = space.violations.get(0)
            if hit is None:
                return Reached(None, states, depth, space.stopped_by, space.refused is not None)
            try:
                moves = path_to(model, search, hit.least, hit.level, start=codes)
            except GivenUp as ended:
                return Reached(None, states, depth, StopReason.of(ended))
            return Reached(moves[1:], states, depth)
        finally:
            search.close()


def _plural(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
