"""What the evaluator says of a model, for tests that compare something with it."""

from __future__ import annotations

from collections.abc import Callable

from insync.model import Model
from insync.model.evaluator import Codes, Evaluator
from insync.model.expressions.graph import Node
from insync.model.language.declarations import invariant_names
from insync.properties.invariants import own_invariant

__all__ = ["conditions", "reached", "successors"]


def conditions(model: Model) -> dict[str, Node]:
    """Return the condition of each invariant of a model's class."""
    return {name: own_invariant(type(model), name).node(model) for name in invariant_names(type(model))}


def successors(evaluator: Evaluator, codes: Codes) -> list[tuple[int, Codes]]:
    """Return (action number, next state) for every enabled action, in order.

    Raises:
        DomainError: a step would assign what its field cannot hold.
    """
    return [(number, evaluator.step(number, codes)) for number in evaluator.enabled(codes)]


def reached(model: Model, kept: Callable[[str], bool]) -> set[Codes]:
    """Return the reachable states, of each only the cells whose paths are to be kept."""
    evaluator = Evaluator(model.program)
    numbers = [number for number, cell in enumerate(model.program.schema.cells) if kept(cell.path)]
    seen, open_ = {model.program.initials[0]}, [model.program.initials[0]]
    while open_:
        for _, after in successors(evaluator, open_.pop()):
            if after not in seen:
                seen.add(after)
                open_.append(after)
    return {tuple(codes[number] for number in numbers) for codes in seen}
