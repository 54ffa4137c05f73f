"""Tracing of lifted actions: each action is traced once for all values of its parameters.

Python decides on some parameters, as by an `if`; then there is an action for each of their values. Python does that
unnoticed on members of an enumeration, by `is`, so these are enumerated always.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any

from insync.model.domains.sorts import Parameter, members_of, number_of_members, under
from insync.model.expressions.graph import Variable
from insync.model.expressions.lifted import Action, Expect, LiftedGraph, Undecided, lifting
from insync.model.expressions.store import LiftedStore
from insync.model.language.binders import value_of_variable, variable_over
from insync.model.language.declarations import ActionSpec, action_specs
from insync.model.tracing.tracer import bindings_of, run_method
from insync.runtime.errors import ModelError

if TYPE_CHECKING:
    from insync.model.define import Model

__all__ = ["LiftedActions", "lifted_actions"]


def lifted_actions(model: Model, graph: LiftedGraph, go_on: Callable[[], None] = lambda: None) -> list[Action]:
    """Return the actions of a model, each for all values of as many of its parameters as its Python allows.

    Args:
        model: the model; its confinement is not part of the guards.
        graph: the graph of the actions.
        go_on: called again and again; an exception that it raises ends the tracing.
    """
    whole = model if model._confinement is None else model._confinement.whole
    found: list[Action] = []
    with under(whole.b), graph.asking(go_on):
        tracing = LiftedActions(whole, graph)
        for name, spec in action_specs(type(whole)).items():
            bindings_of(whole, name, spec)  # which refuses too many
            go_on()
            found += tracing.of(name, spec)
    return found


class LiftedActions:
    """The tracing of lifted actions of one model.

    Args:
        model: the model.
        graph: the graph of the actions.
    """

    def __init__(self, model: Model, graph: LiftedGraph) -> None:
        self._model, self._graph = model, graph
        self._stores, self._parameters = itertools.count(1), itertools.count()

    def of(self, name: str, spec: ActionSpec) -> list[Action]:
        """Return an action for all values of as many parameters as possible, and for each value of the others.

        Raises:
            ModelError: it cannot be traced.
        """
        kinds = spec.parameters
        sizes = {one: number_of_members(kind, self._model.b) for one, kind in kinds.items()}
        if 0 in sizes.values():
            return []
        decided = {one for one, kind in kinds.items() if issubclass(kind, Enum) or sizes[one] == 1}
        while len(decided) < len(kinds):
            try:
                return self._each(name, spec, decided, self._graph)
            except Undecided as undecided:
                more = {one.name for one in undecided.variables if one.number >= 0}
                decided |= more if more - decided else kinds.keys()
            except ModelError:
                break
        return self._each(name, spec, set(kinds), None)  # which raises the error of the first binding that has one

    def _each(self, name: str, spec: ActionSpec, decided: set[str], kept: LiftedGraph | None) -> list[Action]:
        found = []
        chosen = [one for one in spec.parameters if one in decided]
        for values in itertools.product(*[members_of(spec.parameters[one], self._model.b) for one in chosen]):
            one = self._trace(name, spec, dict(zip(chosen, values, strict=True)), kept)
            found += [] if one is None else [one]
        return found

    def _trace(
        self, name: str, spec: ActionSpec, fixed: Mapping[str, Parameter], kept: LiftedGraph | None
    ) -> Action | None:
        graph, store = self._graph, LiftedStore(self._graph, next(self._stores))
        graph.made, graph.orders = {}, set()
        parameters: list[tuple[str, Parameter | Variable]] = []
        values: list[Any] = []
        for parameter, kind in spec.parameters.items():
            if parameter in fixed:
                parameters.append((parameter, fixed[parameter]))
                values.append(fixed[parameter])
            else:
                variable = variable_over(parameter, kind, next(self._parameters))
                parameters.append((parameter, variable))
                values.append(value_of_variable(graph, variable))
        with lifting(kept):
            if not run_method(
                self._model, store, getattr(self._model, name), values, f"{spec.place}: the {spec.word} {name!r}"
            ):
                return None
        expects = tuple(Expect(one.where, one.condition, one.recorded) for one in store.expected)
        return Action(
            name, tuple(parameters), tuple(store.guard), tuple(store.assigns), expects, graph.made, tuple(graph.orders)
        )
