"""Step invariants: `@step_invariant` in a class body, conditions on two states, and what they ask of one action.

A step invariant is a condition on the state before a step and the one after it, `[][A]_v` in TLA+: every step that
changes the state must meet it. It is traced once, in a graph of its own whose cells are those of the state before and
then those of the state after. The state after a bound action is a function of the state before, so what the invariant
asks of one action is a condition on the state before alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import CO_VARARGS, CO_VARKEYWORDS
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from insync.model.actions import ROLE, marked_names, place_of_function
from insync.model.environment import Environment, Place
from insync.model.errors import ModelError, user_frame
from insync.model.graph import Graph, Node, Op, reachable
from insync.model.kinds import under
from insync.model.program import BoundAction, Program
from insync.model.simplify import apply, combine
from insync.model.tracing import returned_condition
from insync.model.values import Condition
from insync.model.views import StateView

if TYPE_CHECKING:
    from insync.model.define import Model

__all__ = [
    "StepInvariantSpec",
    "StepPredicate",
    "step_condition",
    "step_invariant",
    "step_invariant_names",
    "trace_step_predicate",
]

F = TypeVar("F", bound=Callable[..., Any])

StepPredicate = Callable[[StateView, StateView], Condition]
"""A condition on the state before a step and the state after it."""


class StepInvariantSpec:
    """What `@step_invariant` notes of a method: where it stands."""

    __slots__ = ("place",)
    word: ClassVar[str] = "step_invariant"

    def __init__(self, place: str) -> None:
        self.place = place


def step_invariant(function: F, /) -> F:
    """Mark a method of a model as a step invariant: a condition that every step that changes the state must meet.

    The method takes `self`, the state before the step and the state after it. This one belongs in the class body;
    `insync.properties.step_invariant` declares a function beside the class.
    """
    code = getattr(function, "__code__", None)
    if code is None:
        message = (
            f"{user_frame()}: @step_invariant belongs directly above a method (def) of the model, not on {function!r}."
        )
        raise ModelError(message)
    unusual = code.co_kwonlyargcount or code.co_flags & (CO_VARARGS | CO_VARKEYWORDS) or function.__defaults__
    if code.co_argcount != 3 or unusual:
        message = (
            f"{place_of_function(function)}: the step_invariant {function.__name__!r} must take self, the state before "
            f"a step, the state after it, and nothing else; write `def {function.__name__}(self, before, after)`."
        )
        raise ModelError(message)
    setattr(function, ROLE, StepInvariantSpec(place_of_function(function)))
    return function


def step_invariant_names(model: type) -> list[str]:
    """Return the names of a model class's step invariants in order of definition."""
    return marked_names(model, StepInvariantSpec)


def trace_step_predicate(model: Model, predicate: StepPredicate) -> Node:
    """Return the node of a condition on two states: its cells are those of the state before, then those after.

    Raises:
        ModelError: it assigns, uses `require`, or does not return a condition.
    """
    sizes = model.program.graph.cell_sizes
    graph = Graph((*sizes, *sizes))
    views = []
    for first in (0, len(sizes)):
        cells = [graph.cell(first + number) for number in range(len(sizes))]
        views.append(StateView(model.state, Place(Environment(graph, cells), 0, "")))
    with under(model.b):
        found = predicate(*views)
    return returned_condition(graph, predicate, found, "a condition on the state before and the one after")


def step_condition(program: Program, pair: Node, action: BoundAction) -> Node:
    """Return the condition on a state that an action, if it takes a step from there that changes it, meets a condition.

    Args:
        program: the program of the action.
        pair: the condition on two states; see `trace_step_predicate`.
        action: the action.
    """
    graph = program.graph
    cells = [graph.cell(number) for number in range(len(graph.cell_sizes))]
    after = dict(action.updates)
    changed = [apply(Op.NOT, apply(Op.EQ, node, cells[cell])) for cell, node in action.updates]
    met = _on(graph, pair, [*cells, *(after.get(number, cell) for number, cell in enumerate(cells))])
    step = [*action.guard, *(check.node for check in action.checks), combine(graph, Op.OR, changed)]
    return combine(graph, Op.OR, [*(apply(Op.NOT, needed) for needed in step), met])


def _on(graph: Graph, root: Node, cells: Sequence[Node]) -> Node:
    """Return what a node of another graph means where its cells have the values of these nodes."""
    made: dict[int, Node] = {}
    for node in reachable([root]):
        args = [made[arg.index] for arg in node.args]
        if node.op is Op.CELL:
            made[node.index] = cells[int(str(node.arg))]
        elif node.op is Op.CONST:
            made[node.index] = graph.boolean(bool(node.arg)) if node.is_bool else graph.const(node.lo)
        elif node.op in (Op.AND, Op.OR):
            made[node.index] = combine(graph, node.op, args)
        else:
            made[node.index] = apply(node.op, *args)
    return made[root.index]
