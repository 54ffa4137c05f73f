"""The unrolling of a program: successive symbolic states, and the conditions on the action between each two of them.

There is one choice per action, and exactly one choice holds. The chosen action is enabled and fits. A cell that it
assigns gets the new code, and every other cell keeps its code.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from insync.model.tracing.program import BoundAction
from insync.proofs.smt.transition_system import SymbolicProgram, SymbolicState
from insync.proofs.smt.z3_module import z3

__all__ = ["SymbolicStep", "Unrolling"]


@dataclass(frozen=True, slots=True)
class SymbolicStep:
    """A step between two symbolic states.

    Attributes:
        choices: for each action of the program, whether it is taken.
        conditions: the conditions of the step.
    """

    choices: tuple[z3.BoolRef, ...]
    conditions: tuple[z3.BoolRef, ...]


class Unrolling:
    """Successive symbolic states, from a first one on.

    Args:
        program: the program.
        first: the first state.
        ordered: whether two successive actions that commute are taken in one order only. Every state that some number
            of steps reaches is reached by as many steps in that order; the states between may differ.

    Attributes:
        states: the states so far.
        steps: the steps between them.
    """

    def __init__(self, program: SymbolicProgram, first: SymbolicState, ordered: bool = False) -> None:
        self.program = program
        self._commuting = _commuting(program) if ordered else []
        self.states = [first]
        self.steps: list[SymbolicStep] = []

    def extend(self) -> list[z3.BoolRef]:
        """Add a step and the state after it; return their conditions."""
        before, number = self.states[-1], len(self.states)
        after = self.program.fresh(f"s{number}")
        step = self._step(before, after, number)
        order = list(self._order(self.steps[-1], step)) if self.steps else []
        self.states.append(after)
        self.steps.append(step)
        return [*self.program.typed(after), *step.conditions, *order]

    def _step(self, before: SymbolicState, after: SymbolicState, number: int) -> SymbolicStep:
        actions = self.program.program.actions
        choices = tuple(z3.Bool(f"a{number}.{place}") for place in range(len(actions)))
        conditions: list[z3.BoolRef] = (
            [z3.PbEq([(choice, 1) for choice in choices], 1)] if choices else [z3.BoolVal(False)]
        )
        writers: list[list[z3.BoolRef]] = [[] for _ in after.cells]
        for choice, action in zip(choices, actions, strict=True):
            needed = [*self.program.enabled(before, action), *self.program.fits(before, action)]
            conditions += [z3.Implies(choice, condition) for condition in needed]
            for cell, code in self.program.updates(before, action).items():
                conditions.append(z3.Implies(choice, after.cells[cell] == code))
                writers[cell].append(choice)
        for cell, writing in enumerate(writers):
            conditions.append(z3.Or(*writing, after.cells[cell] == before.cells[cell]))
        return SymbolicStep(choices, tuple(conditions))

    def _order(self, first: SymbolicStep, second: SymbolicStep) -> Iterator[z3.BoolRef]:
        """Yield the conditions that of two successive actions that commute the one with the smaller number is first."""
        for choice, larger in zip(second.choices, self._commuting, strict=False):
            if larger:
                yield z3.Implies(choice, z3.Not(z3.Or(*[first.choices[place] for place in larger])))


def _commuting(program: SymbolicProgram) -> list[list[int]]:
    """Return for each action those with a larger number that commute with it.

    Two actions commute if neither reads or writes a cell that the other writes.
    """
    actions = program.program.actions
    writes = [sum(1 << cell for cell, _ in action.updates) for action in actions]
    reads = [_reads(program, action) for action in actions]

    def commute(a: int, b: int) -> bool:
        return not (writes[a] & (reads[b] | writes[b]) or writes[b] & reads[a])

    places: Sequence[int] = range(len(actions))
    return [[other for other in places[place + 1 :] if commute(place, other)] for place in places]


def _reads(program: SymbolicProgram, action: BoundAction) -> int:
    read = 0
    for node in (*action.guard, *(c.node for c in action.checks), *(node for _, node in action.updates)):
        read |= program.reads(node)
    return read
