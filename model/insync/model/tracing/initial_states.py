"""Initial methods with their parameters bound: the states that each of them allows, as conditions on variables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from insync.model.domains.layout import WORD, Schema
from insync.model.domains.sorts import Parameter
from insync.model.expressions.graph import Graph, Node, Op
from insync.model.expressions.simplify import apply

__all__ = ["Beginning", "packed_number"]


@dataclass(frozen=True, slots=True)
class Beginning:
    """An initial method with its parameters bound: the states that it allows.

    Its expressions are on variables, not on the cells of a state: `CELL` number n is variable n.

    Attributes:
        label: the method and its parameters in words; empty for the plain method `initial`.
        place: the author's file and line.
        graph: the nodes of its expressions; its `cell_sizes` are how many values each variable has.
        conditions: what must hold of the variables: what the method requires, and that codes are those of values.
        cells: the code of each cell of the state.
        expected: what must hold besides of those that the conditions allow, with the message for where it does not.
        well_formed: those of the conditions that say which codes are those of values.
        shown: what range analysis showed to hold wherever the conditions do; expected again by whoever changes these.
        name: what the method is called; empty for the plain method `initial`.
        parameters: each parameter's name and value.
    """

    label: str
    place: str
    graph: Graph
    conditions: tuple[Node, ...]
    cells: tuple[Node, ...]
    expected: tuple[tuple[Node, str], ...] = ()
    well_formed: tuple[Node, ...] = ()
    shown: tuple[tuple[Node, str], ...] = ()
    name: str = ""
    parameters: tuple[tuple[str, Parameter], ...] = ()

    @property
    def required(self) -> list[Node]:
        """What the method requires."""
        return [condition for condition in self.conditions if condition not in self.well_formed]

    def pinned(self, codes: Sequence[int]) -> Beginning:
        """Return what is left of it where the state must be the one with these codes."""
        pairs = zip(self.cells, codes, strict=True)
        equal = [apply(Op.EQ, node, self.graph.const(code)) for node, code in pairs]
        wanted = [node for node in equal if node is not self.graph.true]
        return replace(self, conditions=(*self.conditions, *wanted))


def packed_number(schema: Schema, number: int) -> int:
    """Return by how much a cell's code is shifted in a state packed into one number, the first word foremost."""
    cell = schema.cells[number]
    return WORD * (schema.words - 1 - cell.word) + cell.shift
