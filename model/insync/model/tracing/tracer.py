"""Tracing: runs a model's Python once for each binding of its parameters, on symbolic values, to get its program."""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from insync.model.domains.layout import Schema
from insync.model.domains.open_bounds import is_open
from insync.model.domains.sorts import Index, Parameter, Subset, label_of, members_of, number_of_members, under
from insync.model.domains.symbolic import mistaken_call
from insync.model.domains.values import Bool, Condition, condition
from insync.model.expressions.graph import Graph, Node, Op, meanings
from insync.model.expressions.intervals import Facts, always_holds
from insync.model.expressions.store import Environment, Place, Unreachable, current
from insync.model.language.declarations import ActionSpec, InitialSpec, action_specs, initial_specs
from insync.model.language.quantifiers import for_all_bindings
from insync.model.language.views import InitialEnvironment, StateView
from insync.model.symmetry.group import symmetry_of
from insync.model.tracing.initial_states import Beginning, Initials
from insync.model.tracing.program import BoundAction, Check, Program
from insync.runtime.errors import ModelError, shown
from insync.runtime.visible_text import in_one_line

if TYPE_CHECKING:
    from insync.model.define import Model

__all__ = ["ConditionTracer", "action_traced_otherwise", "trace_again", "trace_predicate", "traced", "traced_condition"]

ConditionTracer = Callable[["Model", Callable[..., Condition], Mapping[str, type]], Node]
"""Traces a condition on the state of a model, for all values of its parameters."""

_MOST_BINDINGS = 20_000


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
    with graph.asking(go_on):
        initials = _initials(model, schema, _initial(model, graph, schema), go_on)
        specs = action_specs(type(model))
        actions = []
        for name, spec in specs.items():
            for values in bindings_of(model, name, spec):
                go_on()
                bound = _trace_action(model, graph, name, spec, values)
                if bound is not None:
                    actions.append(bound)
    symmetry = None if model.tells_apart else symmetry_of(model.state, model.b)
    return Program(graph, schema, tuple(actions), tuple(specs), initials, symmetry=symmetry)


def action_traced_otherwise(model: Model) -> str | None:
    """Return the name of an action whose expressions differ when it is traced again; None if there is none.

    The check is a sample: the first, the middle and the last binding of each action.
    """
    model = model if model._confinement is None else model._confinement.whole
    by_name: dict[str, list[BoundAction]] = {}
    for action in model.program.actions:
        by_name.setdefault(action.name, []).append(action)
    for name, bound in by_name.items():
        spec = action_specs(type(model))[name]
        for action in dict.fromkeys([bound[0], bound[len(bound) // 2], bound[-1]]):
            values = tuple(value for _, value in action.parameters)
            with under(model.b):
                again = _trace_action(model, Graph(model.program.graph.cell_sizes), name, spec, values)
            if again is None or _meaning(again) != _meaning(action):
                return name
    return None


def trace_again(model: Model) -> Iterator[tuple[str, tuple[Parameter, ...], Callable[[], bool]]]:
    """Yield name, parameter values and a function for each action and binding, in the order of the program.

    The function traces the action again in the graph of the program, where equal conditions are the same nodes. It
    returns whether the program has the action; False means that the bounds and settings alone rule it out.
    """
    model = model if model._confinement is None else model._confinement.whole
    for name, spec in action_specs(type(model)).items():
        for values in bindings_of(model, name, spec):

            def trace(name: str = name, spec: ActionSpec = spec, values: tuple[Parameter, ...] = values) -> bool:
                with under(model.b):
                    return _trace_action(model, model.program.graph, name, spec, values) is not None

            yield name, values, trace


def _meaning(action: BoundAction) -> tuple[object, ...]:
    counts = len(action.guard), len(action.checks), [cell for cell, _ in action.updates]
    nodes = [*action.guard, *(check.node for check in action.checks), *(node for _, node in action.updates)]
    return counts, meanings(nodes)


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
    _refuse_too_many(model, _place(predicate), parameters)

    def body(*values: Parameter) -> Condition:
        found: object = predicate(*views, *values)
        if not isinstance(found, (Bool, bool)):
            what = "nothing" if found is None else f"{found!r}, which is of type {type(found).__name__}"
            message = f"{_place(predicate)} returns {what}; it must return {wanted}."
            raise ModelError(message)
        return found

    try:
        with under(model.b):
            return condition(graph, for_all_bindings(list(parameters), list(parameters.values()), body))
    except TypeError as error:
        refuse_mistaken_call(error)
        raise


def refuse_mistaken_call(error: TypeError) -> None:
    """Raise ModelError if the error is a call of a word of the language with wrong arguments."""
    message = mistaken_call(error)
    if message is not None:
        raise ModelError(message) from None


def _place(function: Callable[..., object]) -> str:
    """Return file, line and name of a function."""
    written = inspect.unwrap(function)
    code, name = getattr(written, "__code__", None), getattr(written, "__name__", repr(function))
    return f"{code.co_filename}:{code.co_firstlineno}: {name}" if code else name


def _refuse_too_many(model: Model, what: str, parameters: Mapping[str, type]) -> None:
    sizes = [number_of_members(kind, model.b) for kind in parameters.values()]
    bindings = math.prod(size for size in sizes if not is_open(size))
    if bindings > _MOST_BINDINGS:
        message = (
            f"{what} has {bindings} bindings of its parameters under {model.identity}; at most {_MOST_BINDINGS} are "
            f"possible. Use smaller bounds."
        )
        raise ModelError(message)


def bindings_of(model: Model, name: str, spec: ActionSpec) -> Iterator[tuple[Parameter, ...]]:
    """Yield the bindings of an action or initial method: each combination of values of its parameters."""
    _refuse_too_many(model, f"{spec.place}: the {spec.word} {name!r}", spec.parameters)
    return itertools.product(*[members_of(kind, model.b) for kind in spec.parameters.values()])


def _environment(graph: Graph, *, writable: bool) -> Environment:
    return Environment(graph, graph.cells(), writable=writable, guarded=writable)


def state_view(model: Model, environment: Environment) -> StateView:
    return StateView(model.state, Place(environment, 0, ""))


def _initial(model: Model, graph: Graph, schema: Schema) -> Beginning:
    """Return the state that the plain method `initial` assigns."""
    environment = Environment(graph, [graph.const(0)] * len(schema.cells), writable=True)
    run_method(model, environment, model.initial, (), _place(model.initial))
    for expected in environment.expected:
        if expected.node is graph.false:
            message = f"{expected.place}: {expected.message}"
            raise ModelError(message)
    for cell, node in zip(schema.cells, environment.cells, strict=True):
        if node.op is not Op.CONST:
            message = f"{_place(model.initial)}: {cell.path} does not begin with a fixed value; the first state is one."
            raise ModelError(message)
    return Beginning("", _place(model.initial), graph, (), tuple(environment.cells))


def _initials(model: Model, schema: Schema, start: Beginning, go_on: Callable[[], None]) -> Initials:
    """Return the initial states: those that the initial methods make of the state of the plain method `initial`."""
    specs = initial_specs(type(model))
    begun = [start] if not specs else []
    for name, spec in specs.items():
        for values in bindings_of(model, name, spec):
            go_on()
            beginning = _trace_initial(model, start, name, spec, values)
            begun += [] if beginning is None else [beginning]
    initials = Initials(schema, tuple(begun), go_on)
    if initials.enumerated and not initials:
        places = " and ".join(spec.place for spec in specs.values())
        message = (
            f"{places}: {model.name} has no initial state under {model.identity}: what is required is never so. "
            f"Require less."
        )
        raise ModelError(message)
    return initials


def _trace_initial(
    model: Model, start: Beginning, name: str, spec: InitialSpec, values: tuple[Parameter, ...]
) -> Beginning | None:
    """Return the initial method bound to these parameters; None if its `require` refuses all states."""
    environment = InitialEnvironment(tuple(node.lo for node in start.cells))
    if not run_method(model, environment, getattr(model, name), values, f"{spec.place}: the {spec.word} {name!r}"):
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
    )


def _trace_action(
    model: Model, graph: Graph, name: str, spec: ActionSpec, values: tuple[Parameter, ...]
) -> BoundAction | None:
    environment = _environment(graph, writable=True)
    before = list(environment.cells)
    if not run_method(model, environment, getattr(model, name), values, f"{spec.place}: the {spec.word} {name!r}"):
        return None
    changed = enumerate(zip(before, environment.cells, strict=True))
    parameters = tuple(zip(spec.parameters, values, strict=True))
    checks, shown = _checks(environment)
    return BoundAction(
        name=name,
        parameters=parameters,
        label=label_of_action(name, spec, dict(parameters)),
        guard=tuple(environment.guard),
        updates=tuple((cell, new) for cell, (old, new) in changed if new is not old),
        checks=checks,
        shown=shown,
    )


def run_method(
    model: Model, environment: Environment, method: Callable[..., object], values: Sequence[Parameter], what: str
) -> bool:
    """Run a method on the state of an environment, and return whether its guard can hold at all.

    Args:
        model: the model.
        environment: the store that the method changes.
        method: an action, an initial method, or the plain `initial`.
        values: the values of its parameters.
        what: its place and name, for messages.

    Raises:
        ModelError: it returns something, or makes a `when` block that it does not open.
    """
    token = current.set(environment)
    try:
        returned = method(state_view(model, environment), *values)
    except Unreachable:
        return False
    except TypeError as error:
        refuse_mistaken_call(error)
        raise
    finally:
        current.reset(token)
    if returned is not None:
        hint = " (conditions go into require)" if environment.guarded else ""
        message = f"{what} returns {shown(returned)}; it assigns to the state and returns nothing{hint}."
        raise ModelError(message)
    for place in environment.unopened.values():
        message = f"{place}: when(...) does nothing by itself; write `with when(...):` and the assignments below it."
        raise ModelError(message)
    return True


def _checks(environment: Environment) -> tuple[tuple[Check, ...], tuple[Check, ...]]:
    """Return the checks that engines make when the model runs, and those that interval analysis showed to hold."""
    checks: list[Check] = []
    shown: list[Check] = []
    known: dict[tuple[Node, ...], Facts] = {}
    for expected in environment.expected:
        node = expected.node
        if expected.where not in known:
            known[expected.where] = Facts([*environment.guard, *expected.where])
        holds = known[expected.where].show(expected.condition)
        (shown if holds else checks).append(Check(node, expected.recorded))
    return tuple(checks), tuple(shown)


def label_of_action(name: str, spec: ActionSpec, parameters: dict[str, Parameter]) -> str:
    if spec.label is None:
        return _said(name, parameters, acting=not isinstance(spec, InitialSpec))
    try:
        return in_one_line(spec.label.format(**{name: label_of(value) for name, value in parameters.items()}))
    except (LookupError, ValueError, AttributeError, TypeError) as error:
        usable = ", ".join(parameters) or "no parameter"
        message = (
            f"{spec.place}: the label {spec.label!r} of the {spec.word} {name!r} cannot be filled ({error}); "
            f"it may use {usable}."
        )
        raise ModelError(message) from None


def _said(name: str, parameters: dict[str, Parameter], *, acting: bool) -> str:
    """Return a default label, such as `worker1: look (at seat2)`; if `acting`, a first parameter of a sort leads."""
    others, said = dict(parameters), name.replace("_", " ")
    for first, value in list(others.items())[:acting]:
        if isinstance(value, Index) and not isinstance(value, Subset):
            said = f"{others.pop(first)}: {said}"
    rest = ", ".join(f"{other.replace('_', ' ')} {label_of(value)}" for other, value in others.items())
    return in_one_line(f"{said} ({rest})" if rest else said)
