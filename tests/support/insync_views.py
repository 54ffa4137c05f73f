"""Searches of TLC with a VIEW: states are taken for the same that differ in what the view leaves out alone.

Where a guard reads that, what is found depends on which of several states is found first: here as in TLC with one
worker, the one that the least action leads to from the state that was found first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from insync.explorer import CheckResult
from insync.model import Model
from insync.model.evaluator import Evaluator

__all__ = ["Counts", "with_view"]


@dataclass(frozen=True, slots=True)
class Counts:
    """What TLC says of a search.

    Attributes:
        distinct: the states.
        generated: the steps from them, and the initial states.
        depth: how many levels there are.
    """

    distinct: int
    generated: int
    depth: int

    @classmethod
    def of(cls, found: CheckResult) -> Counts:
        """Those of a search of a model with one initial state."""
        return cls(found.distinct_states, found.transitions + 1, found.depth)

    @classmethod
    def on_record(cls, row: Mapping[str, str]) -> Counts:
        """Those of a row of what TLC has found."""
        return cls(*(int(row[name]) for name in ("distinct", "generated", "depth")))


def with_view(model: Model, left_out: Sequence[str]) -> Counts:
    """Count what a search finds that does not see some fields of the state."""
    program, steps = model.program, Evaluator(model.program)
    shown = [n for n, cell in enumerate(program.schema.cells) if cell.path.split("[")[0] not in left_out]
    level = list(program.initials)
    seen = {tuple(state[n] for n in shown) for state in level}
    generated, depth = len(level), 0
    while level:
        depth += 1
        following = []
        for state in level:
            for number in steps.enabled(state):
                after = steps.step(number, state)
                generated += 1
                view = tuple(after[n] for n in shown)
                if view not in seen:
                    seen.add(view)
                    following.append(after)
        level = following
    return Counts(len(seen), generated, depth)
