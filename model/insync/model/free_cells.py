"""Free cells: the codes of a field to which an initial method assigns `ANY`.

Each is a variable of its own, which a CELL node stands for: assigning `ANY` twice gives two of them. Only canonical
codes are meant, so that equal values have equal codes.
"""

from __future__ import annotations

from collections.abc import Sequence

from insync.model.collected import BitSet, Listed, ListedSet, Seq
from insync.model.domains import SCALARS, Absent, Array, Domain, Option, Record, State, described
from insync.model.environment import Environment, Nowhere, current
from insync.model.errors import ModelError, user_frame
from insync.model.graph import Graph, Node, Op
from insync.model.scalars import Scalar
from insync.model.simplify import apply, combine

__all__ = ["InitialEnvironment", "free_codes"]


class InitialEnvironment(Environment):
    """The state while an initial method is traced, with a graph of its own: a CELL of it is a variable, not a cell.

    Args:
        codes: of the state that the method begins from.
    """

    def __init__(self, codes: tuple[int, ...]) -> None:
        graph = Graph(())
        super().__init__(graph, [graph.const(code) for code in codes], writable=True, guarded=True)

    def variable(self, size: int) -> Node:
        """Return a new variable with the values 0 .. size-1."""
        self.graph.cell_sizes = (*self.graph.cell_sizes, size)
        return self.graph.cell(len(self.graph.cell_sizes) - 1)


def free_codes(domain: Domain, target: Environment, path: str) -> list[Node]:
    """Return the codes of any value of a domain.

    Args:
        domain: of the field.
        target: where the field stands.
        path: what is assigned, for messages.

    Raises:
        ModelError: no initial method is being traced, or the domain has no rule here.
    """
    if isinstance(target, Nowhere):
        return [target.graph.const(0)] * domain.width
    environment = current.get()
    if not isinstance(environment, InitialEnvironment):
        message = (
            f"{user_frame()}: ANY cannot be assigned to {path} here: it is for methods marked with @initial. What may "
            f"differ in an action is a parameter of it."
        )
        raise ModelError(message)
    return _free(domain, environment, path)


def _free(domain: Domain, environment: InitialEnvironment, path: str) -> list[Node]:
    if isinstance(domain, Scalar) and type(domain) in SCALARS:
        return [environment.variable(domain.size)]
    match domain:
        case Record() | State():
            return [code for field in domain.fields.values() for code in _free(field, environment, path)]
        case Array():
            return [code for _ in domain.labels for code in _free(domain.of, environment, path)]
        case Option():
            return _free_option(domain, environment, path)
        case Absent():
            return []
        case BitSet():
            return [environment.variable(2) for _ in domain.members]
        case Listed():
            return _free_list(domain, environment, path)
    message = f"{user_frame()}: ANY cannot be assigned to {path}, which is {described(domain)}; assign its values."
    raise ModelError(message)


def _free_option(domain: Option, environment: InitialEnvironment, path: str) -> list[Node]:
    """All cells of a record that is absent are 0."""
    graph = environment.graph
    there, inside = environment.variable(2), _free(domain.of, environment, path)
    present = apply(Op.EQ, there, graph.const(1))
    for code in inside:
        environment.guard.append(combine(graph, Op.OR, [present, apply(Op.EQ, code, graph.const(0))]))
    return [there, *inside]


def _free_list(domain: Listed, environment: InitialEnvironment, path: str) -> list[Node]:
    """Places past the end are 0; the elements of a bag or a set stand in order, those of a set once each."""
    graph, length = environment.graph, environment.variable(domain.most + 1)
    elements = [_free(domain.of, environment, path) for _ in range(domain.most)]
    for place, element in enumerate(elements):
        there = apply(Op.LT, graph.const(place), length)
        for code in element:
            environment.guard.append(combine(graph, Op.OR, [there, apply(Op.EQ, code, graph.const(0))]))
        if place and not isinstance(domain, Seq):
            ordered = _before(graph, elements[place - 1], element, equal=not isinstance(domain, ListedSet))
            environment.guard.append(combine(graph, Op.OR, [apply(Op.NOT, there), ordered]))
    return [length, *(code for element in elements for code in element)]


def _before(graph: Graph, one: Sequence[Node], other: Sequence[Node], *, equal: bool) -> Node:
    """Return whether codes are less than others, or equal to them, compared cell by cell."""
    result = graph.boolean(equal)
    for a, b in reversed(list(zip(one, other, strict=True))):
        same = combine(graph, Op.AND, [apply(Op.EQ, a, b), result])
        result = combine(graph, Op.OR, [apply(Op.LT, a, b), same])
    return result
