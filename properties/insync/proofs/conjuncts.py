"""The conditions that make a state good, conjunct by conjunct, and which of them z3 was told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from insync.model.evaluator import evaluate_each
from insync.model.graph import Node, Op
from insync.proofs.smt import Formula, SymbolicState

__all__ = ["Part", "Told", "conjuncts"]

TOLD_AT_ONCE = 20
"""How many conjuncts that a state fails are told before asking again."""


def conjuncts(node: Node) -> list[Node]:
    """Return the conditions that a condition joins, those of quantifiers included."""
    found, stack = [], [node]
    while stack:
        current = stack.pop()
        if current.op is Op.AND:
            stack.extend(reversed(current.args))
        else:
            found.append(current)
    return found


@dataclass(frozen=True, slots=True)
class Part:
    """A conjunct of a condition, and the cells that it reads.

    What an invariant of steps asks of one action is a condition on the state before, and so marked: nothing is assumed
    of it, and the step breaks it where that state does.
    """

    name: str
    node: Node
    reads: int
    of_step: bool = False


class Told:
    """Which conjuncts z3 was told of which of the good states.

    Args:
        parts: all conjuncts.
        states: the good states.
    """

    def __init__(self, parts: Sequence[Part], states: Sequence[SymbolicState]) -> None:
        self.parts, self.states = parts, states
        self.known: set[tuple[int, int]] = set()

    def of(self, parts: Iterable[Part]) -> list[Formula]:
        """Return what is new of these conjuncts in all good states."""
        wanted = {id(part) for part in parts}
        places = [place for place, part in enumerate(self.parts) if id(part) in wanted]
        return self._tell((state, place) for state in range(len(self.states)) for place in places)

    def failing(self, codes: Sequence[tuple[int, ...]]) -> list[Formula]:
        """Return some of the conjuncts that fail in the states with these codes; none where all states are good."""
        failing: list[tuple[int, int]] = []
        for state, own in enumerate(codes):
            untold = [place for place in range(len(self.parts)) if (state, place) not in self.known]
            values = evaluate_each((self.parts[place].node for place in untold), own)
            bad = ((state, place) for place, value in zip(untold, values, strict=True) if not value)
            failing += islice(bad, TOLD_AT_ONCE)
        return self._tell(failing)

    def _tell(self, wanted: Iterable[tuple[int, int]]) -> list[Formula]:
        new = [pair for pair in wanted if pair not in self.known]
        self.known.update(new)
        return [self.states[state].holds(self.parts[place].node) for state, place in new]
