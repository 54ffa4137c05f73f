"""Refinement mappings (Abadi & Lamport 1991): a state of another model as a function of a state of this one.

A mapping is written like an action that assigns the fields of the other model's state. It is traced once, so the code
of each cell of the other state is an expression over the cells of this one. A step refines the other model if the
states that it maps to are equal, or one step of the other model apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from insync.model.domains.bounds import BoundValues
from insync.model.domains.sorts import under
from insync.model.expressions.graph import Graph, Node, Op
from insync.model.expressions.simplify import apply, combine, substituted
from insync.model.expressions.store import AssignedCells, Environment, Expected
from insync.model.language.refinements import BoundsOf
from insync.model.language.views import StateView
from insync.model.tracing.lifting import run_method, state_view
from insync.model.tracing.program import BoundAction
from insync.runtime.errors import ModelError, UserError, shown

if TYPE_CHECKING:
    from insync.model.define import Model

__all__ = [
    "AbstractStep",
    "Mapped",
    "abstract_model",
    "abstract_steps",
    "trace_mapping",
]


def abstract_model(model: Model, other: type[Model], bounds: BoundsOf | None, place: str) -> Model:
    """Return the other model of a refinement under the bounds that go with those of this one.

    Raises:
        ModelError: bounds that the other model does not have, or values that it does not allow.
    """
    given: object = {} if bounds is None else bounds(model.b)
    if not isinstance(given, Mapping):
        message = f"{place}: bounds= returns {shown(given)}; it must return bounds of {other.name} by name, as a dict."
        raise ModelError(message)
    known = [*other.settings, *other.bounds]
    same = {name: value for name, value in model.identity.items() if name in known}
    try:
        return other(**{**same, **given})
    except UserError as error:
        cure = "return it from bounds=, as in bounds=lambda b: {...}"
        message = f"{place}: the other model under {model.identity}: {error} If a bound needs another value, {cure}."
        raise ModelError(message) from None


class _MappedState(AssignedCells):
    """The store that a mapping assigns: the other state, which begins as the default of each field."""

    unwritable = "a mapping reads this state, and assigns that of the other model."


class _ReadState(Environment):
    """The state that a mapping reads."""

    unwritable = "a mapping reads this state, and assigns that of the other model."


@dataclass(frozen=True, slots=True)
class Mapped:
    """The state of the other model that a state maps to.

    Attributes:
        other: the other model.
        cells: the code of each cell of its state, over the cells of a state of this model.
        fits: the conditions without which it is no state of the other model, as a value does not fit its field.
    """

    other: Model
    cells: tuple[Node, ...]
    fits: tuple[Expected, ...]


def trace_mapping(model: Model, other: Model, mapping: Callable[[StateView, StateView], None], place: str) -> Mapped:
    """Return the state of the other model that a state maps to.

    Args:
        model: the model.
        other: the model that it refines.
        mapping: assigns the fields of the second state.
        place: file, line and name of the mapping, for messages.

    Raises:
        ModelError: it assigns to the first state, assigns what never fits, or leaves out a field.
    """
    graph = model.program.graph
    source, target = _ReadState(graph, graph.cells()), _MappedState(graph, len(other.program.graph.cell_sizes))
    view = state_view(model, source)
    sizes = BoundValues({**other.b, **model.b}, model.b.settings)
    with under(sizes):
        run_method(other, target, lambda s: mapping(view, s), (), place)
    for name, domain in other.state.fields.items():
        offset = other.state.offsets[name]
        live = any(leaf.size > 1 for leaf in domain.leaves())
        if live and target.assigned.isdisjoint(range(offset, offset + domain.width)):
            message = (
                f"{place} assigns nothing to {name}, a field of {other.name}; a mapping says what each field is, so "
                f"assign it."
            )
            raise ModelError(message)
    for expected in target.expected:
        if expected.node is graph.false:
            message = f"{expected.place}: {expected.message}"
            raise ModelError(message)
    fits = [one for one in target.expected if one.node is not graph.true]
    return Mapped(other, tuple(target.cells), tuple(fits))


@dataclass(frozen=True, slots=True)
class AbstractStep:
    """The conditions on two states that a step maps to one step of the other model, in a graph of their own.

    Attributes:
        action: the bound action of the other model.
        enabled: the guard and the checks of the action, on the state that the first state maps to.
        leads: the condition that its step leads to the state that the second state maps to.
    """

    action: BoundAction
    enabled: Node
    leads: Node

    @property
    def taken(self) -> Node:
        """The condition that the action takes the step."""
        return combine(self.enabled.graph, Op.AND, [self.enabled, self.leads])


def abstract_steps(mapped: Mapped, sizes: Sequence[int]) -> tuple[Node, Node, tuple[AbstractStep, ...]]:
    """Return the conditions on two states, whose cells are those of the first and then those of the second.

    Args:
        mapped: the mapping.
        sizes: the number of values of each cell of a state.

    Returns:
        The condition that the second state maps to a state at all; the condition that both map to the same state; and
        the steps of the other model.
    """
    graph = Graph((*sizes, *sizes))
    first, second = ([graph.cell(start + number) for number in range(len(sizes))] for start in (0, len(sizes)))
    before = substituted(graph, mapped.cells, first)
    fits = [one.node for one in mapped.fits]
    after, fitting = _split(substituted(graph, [*mapped.cells, *fits], second), len(mapped.cells))
    same = [apply(Op.EQ, old, new) for old, new in zip(before, after, strict=True)]
    actions = mapped.other.program.actions
    parts = [[*one.guard, *(check.node for check in one.checks), *(node for _, node in one.updates)] for one in actions]
    placed = substituted(graph, [node for part in parts for node in part], before)
    steps = []
    for action, part in zip(actions, parts, strict=True):
        own, placed = _split(placed, len(part))
        conditions, codes = _split(own, len(part) - len(action.updates))
        updates = {cell: apply(Op.EQ, code, after[cell]) for (cell, _), code in zip(action.updates, codes, strict=True)}
        leads = [updates.get(cell, stays) for cell, stays in enumerate(same)]
        enabled = combine(graph, Op.AND, conditions)
        steps.append(AbstractStep(action, enabled, combine(graph, Op.AND, leads)))
    return combine(graph, Op.AND, fitting), combine(graph, Op.AND, same), tuple(steps)


def _split(nodes: list[Node], place: int) -> tuple[list[Node], list[Node]]:
    return nodes[:place], nodes[place:]
