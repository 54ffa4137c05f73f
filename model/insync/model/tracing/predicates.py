"""Step invariants: conditions on the states before and after a step, and `@step_invariant`, which declares them.

Every step that changes the state must meet a step invariant, `[][A]_v` in TLA+. It is traced once, in a graph of its
own that has the cells of the state before and then those of the state after. The state after a bound action is a
function of the state before. So for one action the invariant is a condition on the state before alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from insync.model.domains.values import Condition
from insync.model.expressions.graph import Graph, Node, Op
from insync.model.expressions.simplify import apply, combine, substituted
from insync.model.expressions.store import Environment, Place
from insync.model.language.declarations import (
    ROLE,
    InvariantSpec,
    check_signature,
    parameter_types,
    place_of_function,
    scopes_of,
)
from insync.model.language.views import StateView
from insync.runtime.errors import ModelError

if TYPE_CHECKING:
    from insync.model.define import Model
    from insync.model.tracing.program import BoundAction, Program

__all__ = [
    "STATES",
    "StepInvariantSpec",
    "refuse_swapped",
    "step_condition",
    "step_invariant",
    "trace_step_predicate",
]

F = TypeVar("F", bound=Callable[..., Any])

STATES = ("state before", "state after")
"""The two states of a step invariant, in words."""


class StepInvariantSpec(InvariantSpec):
    """The specification that `@step_invariant` stores, like that of `@invariant`."""

    __slots__ = ()
    word: ClassVar[str] = "step invariant"
    plural: ClassVar[str] = "step invariants"
    mark: ClassVar[str] = "step_invariant"
    states: ClassVar[tuple[str, ...]] = STATES


def step_invariant(function: F, /) -> F:
    """Mark a method of a model as a step invariant: a condition that every step that changes the state must meet.

    The method takes `self`, the state before the step, the state after it, and perhaps parameters, annotated like those
    of an action: it must hold for each of their values. This decorator belongs in the class body;
    `insync.properties.step_invariant` declares a function beside the class.
    """
    check_signature(function, StepInvariantSpec)
    refuse_swapped(function)
    scopes = scopes_of(function, sys._getframe(1))
    types = parameter_types(function, StepInvariantSpec.word, scopes, len(STATES))
    setattr(function, ROLE, StepInvariantSpec(place_of_function(function), types))
    return function


def refuse_swapped(function: Callable[..., Any]) -> None:
    """Refuse a condition on two states whose parameters are named (after, before).

    Raises:
        ModelError: they are.
    """
    if function.__code__.co_varnames[1:3] == ("after", "before"):
        message = (
            f"{place_of_function(function)}: the step invariant {function.__name__!r} calls its states (after, "
            f"before), and the first is the state before the step; write (before, after)."
        )
        raise ModelError(message)


def trace_step_predicate(model: Model, predicate: Callable[..., Condition], parameters: Mapping[str, type]) -> Node:
    """Return the node of a condition on two states; its cells are those of the state before, then those after.

    Args:
        model: the model.
        predicate: a function of the state before, the state after, and parameters; it must hold for all their values.
        parameters: the type of each parameter.

    Raises:
        ModelError: it assigns, uses `require`, does not return a condition, or has too many bindings.
    """
    from insync.model.tracing.tracer import traced_condition

    sizes = model.program.graph.cell_sizes
    graph = Graph((*sizes, *sizes))
    views = []
    for first in (0, len(sizes)):
        cells = [graph.cell(first + number) for number in range(len(sizes))]
        views.append(StateView(model.state, Place(Environment(graph, cells), 0, "")))
    wanted = "a condition on the state before and the one after"
    return traced_condition(model, graph, predicate, views, parameters, wanted)


def step_condition(program: Program, pair: Node, action: BoundAction, *, unchanged: bool = False) -> Node:
    """Return the condition on the state before a step that holds if the action's step meets a step invariant.

    It also holds where the action is not enabled or does not change the state.

    Args:
        program: the program of the action.
        pair: the condition on two states; see `trace_step_predicate`.
        action: the action.
        unchanged: whether the condition holds of two equal states; then it is not asked whether the step changes any.
    """
    graph = program.graph
    cells = [graph.cell(number) for number in range(len(graph.cell_sizes))]
    after = dict(action.updates)
    changed = [] if unchanged else [apply(Op.NOT, apply(Op.EQ, node, cells[cell])) for cell, node in action.updates]
    (met,) = substituted(graph, [pair], [*cells, *(after.get(number, cell) for number, cell in enumerate(cells))])
    moves = [] if unchanged else [combine(graph, Op.OR, changed)]
    step = [*action.guard, *(check.node for check in action.checks), *moves]
    return combine(graph, Op.OR, [*(apply(Op.NOT, needed) for needed in step), met])
