"""The oracle of lifted tracing: each action is traced once for each binding of its parameters, with plain members."""

from __future__ import annotations

from collections.abc import Iterator

from insync.model import Model
from insync.model.domains.sorts import Parameter, under
from insync.model.expressions.graph import Graph
from insync.model.expressions.intervals import Facts
from insync.model.expressions.source import noting
from insync.model.expressions.store import Environment, Expected
from insync.model.language.choices import Choices
from insync.model.language.declarations import ActionSpec
from insync.model.tracing.grounding import ActionParts
from insync.model.tracing.lifting import bindings_of, label_of_action, run_method
from insync.model.tracing.program import BoundAction, Check, specs_of, whole_of

__all__ = ["bound_one_by_one", "parts_one_by_one"]


def bound_one_by_one(model: Model, graph: Graph) -> list[BoundAction]:
    """Return the bound actions of a model, made one by one.

    Args:
        model: the model; what confines it is left out.
        graph: the graph of their expressions.
    """
    whole = whole_of(model)
    with under(whole.b):
        return list(_all(whole, graph))


def parts_one_by_one(model: Model) -> list[ActionParts]:
    """Return the parts of each action for each binding of its parameters, as nodes of the model's program."""
    program, whole = model.program, whole_of(model)
    actions = iter(program.actions)
    found = []
    for name, spec in specs_of(whole).items():
        for values in bindings_of(whole, name, spec):
            store = Environment(program.graph, program.graph.cells(), writable=True, guarded=True)
            with noting() as notes, under(whole.b):
                possible = _run(whole, store, name, spec, values)
            required = tuple(notes.required)
            if possible:
                parts = required, tuple(notes.branches), tuple(notes.assigned)
                found.append(ActionParts(name, values, next(actions), *parts))
            else:
                found.append(ActionParts(name, values, None, required))
    return found


def _all(model: Model, graph: Graph) -> Iterator[BoundAction]:
    assert model.program is not None, "tracing finds the choices of its actions"
    for name, spec in specs_of(model).items():
        for values in bindings_of(model, name, spec):
            bound = _bound(model, graph, name, spec, values)
            if bound is not None:
                yield bound


def _bound(
    model: Model, graph: Graph, name: str, spec: ActionSpec, values: tuple[Parameter, ...]
) -> BoundAction | None:
    store = Environment(graph, graph.cells(), writable=True, guarded=True)
    if not _run(model, store, name, spec, values):
        return None
    parameters = tuple(zip(spec.parameters, values, strict=True))
    label = label_of_action(name, spec, dict(parameters))
    changed = enumerate(zip(graph.cells(), store.cells, strict=True))
    updates = tuple((cell, new) for cell, (old, new) in changed if new is not old)
    checks = tuple(Check(one.node, one.recorded) for one in store.expected if not _shown(store, one))
    return BoundAction(name, parameters, label, tuple(store.guard), updates, checks)


def _run(model: Model, store: Environment, name: str, spec: ActionSpec, values: tuple[Parameter, ...]) -> bool:
    """Run an action with values of its parameters, of which the last ones are those of its choices."""
    given = dict(zip(spec.parameters, values, strict=True))
    own = {one: value for one, value in given.items() if one not in spec.choices}
    with Choices(own, {one: spec.parameters[one] for one in spec.choices}, given):
        return run_method(model, store, getattr(model, name), list(own.values()), name)


def _shown(store: Environment, one: Expected) -> bool:
    return Facts([*store.guard, *one.where]).show(one.condition)
