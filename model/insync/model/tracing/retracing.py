"""Lifted actions (action schemas): actions traced once for all values of their parameters, for exports.

A parameter is a cell beyond those of the state. An assignment is kept as it was made, with the symbolic indexes of its
place, and a later read is a choice between assignments by their indexes. Where Python decides on a parameter, there is
an action for each of its values. The same holds for parameters over enumerations, on whose members `is` decides.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from insync.model.domains import composite as d
from insync.model.domains.sorts import Parameter, members_of, under
from insync.model.expressions.graph import Graph, Node, Op
from insync.model.expressions.simplify import apply, combine
from insync.model.expressions.store import Dimension, Environment
from insync.model.language.binders import Binders, keeping, opaque_value
from insync.model.language.declarations import ActionSpec, action_specs
from insync.model.tracing.tracer import run_method
from insync.runtime.errors import ModelError

if TYPE_CHECKING:
    from insync.model.define import Model

__all__ = ["GeneralAction", "KeptAssignment", "Levels", "general_actions", "with_graph"]


@dataclass(frozen=True, slots=True)
class KeptAssignment:
    """An assignment as it was made.

    Attributes:
        base: the first cell where all symbolic indexes are 0.
        dimensions: the symbolic indexes.
        codes: the new code of each cell.
    """

    base: int
    dimensions: tuple[Dimension, ...]
    codes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class GeneralAction:
    """An action for all values of some of its parameters.

    Attributes:
        name: the action's name.
        parameters: the name of each parameter, its value or its cell, and whether it is a cell.
        guard: the conditions that enable it.
        assignments: its assignments, in order.
        checks: the conditions that make the assignments sound.
    """

    name: str
    parameters: tuple[tuple[str, Parameter | int, bool], ...]
    guard: tuple[Node, ...]
    assignments: tuple[KeptAssignment, ...]
    checks: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Level:
    """An array around a cell: the distance of its elements in cells, their number, and the element of the cell."""

    stride: int
    length: int
    place: int


class Levels:
    """The arrays around each cell of a state, the outermost first.

    Args:
        state: the domain of the state.
    """

    def __init__(self, state: d.State) -> None:
        self.of_cell = list(_levels(state, ()))

    def first(self, cell: int) -> int:
        """Return the corresponding cell of the elements with index 0."""
        return cell - sum(level.place * level.stride for level in self.of_cell[cell])

    def indexes(self, graph: Graph, cell: int, dimensions: Sequence[Dimension]) -> tuple[Node, ...]:
        """Return the index at each level of a cell: symbolic, or the constant of the cell's element."""
        rest = list(dimensions)
        found = []
        for level in self.of_cell[cell]:
            symbolic = bool(rest) and (rest[0].stride, rest[0].length) == (level.stride, level.length)
            found.append(rest.pop(0).index if symbolic and not level.place else graph.const(level.place))
        assert not rest, "every symbolic index is that of an array around the cell"
        return tuple(found)


def _levels(domain: d.Domain, around: tuple[Level, ...]) -> Iterator[tuple[Level, ...]]:
    if isinstance(domain, d.Record):
        for field in domain.fields.values():
            yield from _levels(field, around)
    elif isinstance(domain, d.Option):
        yield around
        yield from _levels(domain.of, around)
    elif isinstance(domain, d.Array):
        for place in range(len(domain.labels)):
            yield from _levels(domain.of, (*around, Level(domain.of.width, len(domain.labels), place)))
    else:
        yield from (around for _ in domain.cells(""))


class KeepingEnvironment(Environment):
    """A store that keeps assignments as they are made."""

    def __init__(self, graph: Graph, levels: Levels) -> None:
        cells = [graph.cell(number) for number in range(len(levels.of_cell))]
        super().__init__(graph, cells, writable=True, guarded=True)
        self.levels = levels
        self.assignments: list[KeptAssignment] = []
        self._by_cell: dict[int, list[tuple[tuple[Node, ...], Node]]] = {}

    def load(self, cell: int, dimensions: tuple[Dimension, ...]) -> Node:
        found = self._begun_with(cell, dimensions)
        mine = self.levels.indexes(self.graph, cell, dimensions)
        for theirs, code in self._by_cell.get(self.levels.first(cell), ()):
            parts = [apply(Op.EQ, a, b) for a, b in zip(mine, theirs, strict=True)]
            never = any(apply(Op.NOT, part) in self.guard for part in parts)  # such as a guard `leader != follower`
            if not never and not _contradict(parts):
                same = combine(self.graph, Op.AND, [part for part in parts if part not in self.guard])
                found = apply(Op.ITE, same, code, found)
        return found

    def _begun_with(self, cell: int, dimensions: tuple[Dimension, ...]) -> Node:
        """Return the code before any assignment."""
        if not dimensions:
            return self.cells[cell]
        first, rest = dimensions[0], dimensions[1:]
        elements = [self._begun_with(cell + i * first.stride, rest) for i in range(first.length)]
        return apply(Op.SELECT, first.index, *elements)

    def assign(self, base: int, dimensions: tuple[Dimension, ...], codes: Sequence[Node]) -> None:
        if not codes:
            return
        here = combine(self.graph, Op.AND, self.where)
        new = [
            apply(Op.ITE, here, code, self.load(base + offset, dimensions)) if self.where else code
            for offset, code in enumerate(codes)
        ]
        for offset, code in enumerate(new):
            cell = base + offset
            indexes = self.levels.indexes(self.graph, cell, dimensions)
            assigned = self._by_cell.setdefault(self.levels.first(cell), [])
            assigned[:] = [(others, earlier) for others, earlier in assigned if others != indexes]
            assigned.append((indexes, code))
        self.assignments.append(KeptAssignment(base, dimensions, tuple(new)))

    def snapshot(self) -> Environment:
        copy = KeepingEnvironment(self.graph, self.levels)
        copy._by_cell = {cell: list(assigned) for cell, assigned in self._by_cell.items()}
        copy.guard, copy.writable, copy.guarded = self.guard, False, False
        return copy


def _contradict(equalities: Sequence[Node]) -> bool:
    """Return whether some equalities equate one node with two constants."""
    said = {(node.args[0], node.args[1]) for node in equalities if node.op is Op.EQ and node.args[1].op is Op.CONST}
    return len(said) > len({one for one, _ in said})


def with_graph(model: Model, graph: Graph) -> Model:
    """Return a copy of a model with another graph for later tracing; its program has the same actions."""
    made = copy.copy(model)
    made._program = replace(model.program, graph=graph)
    return made


def general_actions(model: Model, binders: Binders) -> list[GeneralAction]:
    """Return the actions of a model, each for all values of as many of its parameters as its Python allows.

    Args:
        model: the model; its confinement is not part of the guards.
        binders: records the parameters and quantifiers, and has the graph.
    """
    whole = model if model._confinement is None else model._confinement.whole
    levels = Levels(whole.state)
    possible = {action.name for action in whole.program.actions}
    found = []
    with under(whole.b), keeping(binders):
        for name, spec in action_specs(type(whole)).items():
            if name in possible:
                found += _most_general(whole, binders, levels, name, spec)
    return found


def _most_general(model: Model, binders: Binders, levels: Levels, name: str, spec: ActionSpec) -> list[GeneralAction]:
    """Return an action for all values of as many parameters as possible, and for each value of the others."""
    kinds = spec.parameters
    named = [one for one, kind in kinds.items() if issubclass(kind, Enum)]  # `is` decides on these unnoticed
    others = [one for one in kinds if one not in named]
    for number in range(len(others) + 1):
        for chosen in itertools.combinations(others, number):
            concrete, found = [one for one in kinds if one in (*named, *chosen)], []
            try:
                for values in itertools.product(*[members_of(kinds[one], model.b) for one in concrete]):
                    fixed = dict(zip(concrete, values, strict=True))
                    one = _trace_general(model, binders, levels, name, spec, fixed)
                    found += [] if one is None else [one]
            except ModelError:
                if number == len(others):
                    raise
                continue
            return found
    raise AssertionError(name)  # the last attempt fixes all parameters, like tracing for the program


def _trace_general(
    model: Model, binders: Binders, levels: Levels, name: str, spec: ActionSpec, fixed: dict[str, Parameter]
) -> GeneralAction | None:
    environment = KeepingEnvironment(binders.graph, levels)
    parameters: list[tuple[str, Any, bool]] = []
    values = []
    for parameter, kind in spec.parameters.items():
        if parameter in fixed:
            parameters.append((parameter, fixed[parameter], False))
            values.append(fixed[parameter])
        else:
            cell, value = opaque_value(binders, parameter, kind)
            parameters.append((parameter, cell, True))
            values.append(value)
    if not run_method(model, environment, getattr(model, name), values, spec.place):
        return None
    checks = tuple(expected.node for expected in environment.expected if expected.node is not environment.graph.true)
    return GeneralAction(name, tuple(parameters), tuple(environment.guard), tuple(environment.assignments), checks)
