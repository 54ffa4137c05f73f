"""Tracing: runs a model's Python on symbolic values to get its program, and the conditions of its properties."""

from __future__ import annotations

import gc
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from insync.model.domains.layout import Schema
from insync.model.domains.sorts import Parameter, number_of_members, under
from insync.model.domains.values import Bool, Condition, condition
from insync.model.expressions.graph import Graph, Node, Op, meanings
from insync.model.expressions.intervals import always_holds
from insync.model.expressions.lifted import Action, Lifted, LiftedGraph
from insync.model.expressions.source import noting
from insync.model.expressions.store import Environment, graph_of_condition
from insync.model.language.declarations import InitialSpec, action_specs, initial_specs
from insync.model.language.quantifiers import for_all_bindings
from insync.model.language.views import InitialEnvironment, StateView
from insync.model.symmetry.group import symmetry_of
from insync.model.tracing.grounding import ActionParts, action_parts, ground_actions, lifted_actions
from insync.model.tracing.initial_states import Beginning, Initials
from insync.model.tracing.lifting import (
    bindings_of,
    label_of_action,
    place_of,
    refuse_mistaken_call,
    refuse_too_many,
    run_method,
    state_view,
)
from insync.model.tracing.program import Program, whole_of
from insync.runtime.errors import ModelError, insisting

if TYPE_CHECKING:
    from insync.model.define import Model

__all__ = [
    "ConditionTracer",
    "action_traced_otherwise",
    "parts_of",
    "trace_predicate",
    "traced",
    "traced_condition",
]

ConditionTracer = Callable[["Model", Callable[..., Condition], Mapping[str, type]], Node]
"""Traces a condition on the state of a model, for all values of its parameters."""


def traced(model: Model, go_on: Callable[[], None]) -> Program:
    """Return the program of a model: every action for every binding, and the initial states. It is traced once.

    Args:
        model: the model.
        go_on: called again and again; an exception that it raises ends the tracing.

    Raises:
        ModelError: the model cannot be traced, assigns a value that never fits its field, or has no initial state.
    """
    if model._program is None and model._confinement is not None:
        whole = traced(model._confinement.whole, go_on)
        model._program = whole.confined(model._confinement.conditions())
    if model._program is None:
        with under(model.b):
            model._program = _trace_model(model, go_on)
    return model._program


def _trace_model(model: Model, go_on: Callable[[], None]) -> Program:
    go_on()
    schema = Schema(model.state)
    graph = Graph(cell.size for cell in schema.cells)
    with graph.asking(go_on), _without_collector():
        initials = _initials(model, schema, _initial(model, graph, schema), go_on)
        lifted = LiftedGraph(graph.cell_sizes)
        model._lifted = Lifted(lifted, tuple(lifted_actions(model, lifted, go_on)))
        actions = ground_actions(model, lifted, model._lifted.actions, graph, go_on)
        lifted.applied.clear()  # as nothing more is traced in it
    symmetry = None if model.tells_apart else symmetry_of(model.state, model.b)
    return Program(graph, schema, tuple(actions), tuple(action_specs(type(model))), initials, symmetry=symmetry)


@contextmanager
def _without_collector() -> Iterator[None]:
    """Stop Python's collector of cyclic garbage in this context: nodes stay, and it would visit them all again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def action_traced_otherwise(model: Model) -> str | None:
    """Return the name of an action whose expressions differ when it is traced again; None if there is none."""
    with _without_collector():
        again = lifted_actions(model, LiftedGraph(model.program.graph.cell_sizes))
    lifted = whole_of(model)._lifted
    assert lifted is not None, "it has a program"
    for first, second in itertools.zip_longest(lifted.actions, again):
        if first is None or second is None or _meaning(first) != _meaning(second):
            return (first or second).name
    return None


def _meaning(action: Action) -> tuple[object, ...]:
    counts = len(action.guard), [(assign.base, assign.dims) for assign in action.assigns]
    nodes = [*action.guard, *(node for assign in action.assigns for node in assign.nodes)]
    return counts, action.parameters, meanings([*nodes, *(expect.condition for expect in action.expects)])


def parts_of(model: Model, go_on: Callable[[], None] = lambda: None) -> list[ActionParts]:
    """Return the parts of each action of a model for each binding of its parameters, in the order of the program.

    They are nodes of the program's graph. A confinement is not part of them.

    Args:
        model: the model.
        go_on: called again and again; an exception that it raises ends the work.
    """
    whole, program = whole_of(model), traced(model, go_on)
    assert whole._lifted is not None, "it has a program"
    found = action_parts(whole, whole._lifted.graph, whole._lifted.actions, program.graph, go_on)
    actions = iter(program.actions)
    return [one if one.bound is None else one.of(next(actions)) for one in found]


def trace_predicate(model: Model, predicate: Callable[..., Condition], parameters: Mapping[str, type]) -> Node:
    """Return the node of a condition on the state, which must hold for all values of its parameters if it has any.

    Raises:
        ModelError: it assigns, uses `require`, does not return a condition, or has too many bindings.
    """
    graph = model.program.graph
    view = state_view(model, _environment(graph, writable=False))
    return traced_condition(model, graph, predicate, [view], parameters, "a condition on the state")


def traced_condition(
    model: Model,
    graph: Graph,
    predicate: Callable[..., Condition],
    views: Sequence[StateView],
    parameters: Mapping[str, type],
    wanted: str,
) -> Node:
    """Return the node of a condition on some states, which must hold for all values of its parameters if it has any.

    Args:
        model: the model.
        graph: the graph of the condition.
        predicate: a function of the states and the parameters.
        views: the states.
        parameters: the type of each parameter.
        wanted: a description of what the predicate must return, for messages.

    Raises:
        ModelError: it does not return a condition, or has too many bindings.
    """
    refuse_too_many(model, place_of(predicate), parameters)

    def body(*values: Parameter) -> Condition:
        found: object = predicate(*views, *values)
        if not isinstance(found, (Bool, bool)):
            what = "nothing" if found is None else f"{found!r}, which is of type {type(found).__name__}"
            message = f"{place_of(predicate)} returns {what}; it must return {wanted}."
            raise ModelError(message)
        return found

    token = graph_of_condition.set(graph)
    try:
        with under(model.b):
            found = insisting(lambda: for_all_bindings(list(parameters), list(parameters.values()), body))
            return condition(graph, found)
    except TypeError as error:
        refuse_mistaken_call(error)
        raise
    finally:
        graph_of_condition.reset(token)


def _environment(graph: Graph, *, writable: bool) -> Environment:
    return Environment(graph, graph.cells(), writable=writable, guarded=writable)


def _initial(model: Model, graph: Graph, schema: Schema) -> Beginning:
    """Return the state that the plain method `initial` assigns."""
    environment = Environment(graph, [graph.const(0)] * len(schema.cells), writable=True)
    run_method(model, environment, model.initial, (), place_of(model.initial))
    for expected in environment.expected:
        if expected.node is graph.false:
            message = f"{expected.place}: {expected.message}"
            raise ModelError(message)
    for cell, node in zip(schema.cells, environment.cells, strict=True):
        if node.op is not Op.CONST:
            place = place_of(model.initial)
            message = f"{place}: {cell.path} does not begin with a fixed value; assign one."
            raise ModelError(message)
    return Beginning("", place_of(model.initial), graph, (), tuple(environment.cells))


def _initials(model: Model, schema: Schema, start: Beginning, go_on: Callable[[], None]) -> Initials:
    """Return the initial states: those that the initial methods make of the state of the plain method `initial`."""
    specs = initial_specs(model)
    begun = [start] if not specs else []
    for name, spec in specs.items():
        for values in bindings_of(model, name, spec):
            go_on()
            beginning = _trace_initial(model, start, name, spec, values)
            begun += [] if beginning is None else [beginning]
    initials = Initials(schema, tuple(begun), go_on)
    if initials.enumerated and not initials:
        empty = [(name, spec, kind) for name, spec in specs.items() for kind in _empty_kinds(model, spec)]
        if not begun and empty:
            name, spec, kind = empty[0]
            message = (
                f"{spec.place}: {model.name} has no initial state under {model.identity}: {name!r} has a parameter of "
                f"{kind.__name__}, which has no member. Give a larger bound, or an initial method without it."
            )
            raise ModelError(message)
        places = " and ".join(spec.place for spec in specs.values())
        message = (
            f"{places}: {model.name} has no initial state under {model.identity}: what is required is never so. "
            f"Require less."
        )
        raise ModelError(message)
    return initials


def _empty_kinds(model: Model, spec: InitialSpec) -> list[type]:
    """Return the kinds of the parameters of an initial method that have no member under the bounds of a model."""
    return [kind for kind in spec.parameters.values() if not number_of_members(kind, model.b)]


def _trace_initial(
    model: Model, start: Beginning, name: str, spec: InitialSpec, values: tuple[Parameter, ...]
) -> Beginning | None:
    """Return the initial method bound to these parameters; None if its `require` refuses all states."""
    environment = InitialEnvironment(tuple(node.lo for node in start.cells))
    what = f"{spec.place}: the {spec.word} {name!r}"
    with noting() as notes:
        if not run_method(model, environment, getattr(model, name), values, what):
            return None
    conditions = tuple(dict.fromkeys([*environment.well_formed, *environment.guard]))
    expected: list[tuple[Node, str]] = []
    shown: list[tuple[Node, str]] = []
    for one in environment.expected:
        holds = always_holds([*conditions, *one.where], one.condition)
        (shown if holds else expected).append((one.node, f"{one.place}: {one.message}"))
    parameters = tuple(zip(spec.parameters, values, strict=True))
    return Beginning(
        label=label_of_action(name, spec, dict(parameters)),
        place=spec.place,
        graph=environment.graph,
        conditions=conditions,
        cells=tuple(environment.cells),
        expected=tuple(expected),
        well_formed=tuple(environment.well_formed),
        shown=tuple(shown),
        name=name,
        parameters=parameters,
        required=tuple(notes.required),
    )
