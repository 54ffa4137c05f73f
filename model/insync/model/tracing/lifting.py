"""Tracing of lifted actions: each action is traced once for all values of its parameters.

Python decides on some parameters, as by an `if`; then there is an action for each of their values. Python does that
unnoticed on members of an enumeration, by `is`, so these are enumerated always.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any

from insync.model.domains.open_bounds import OpenGraph, is_open
from insync.model.domains.sorts import Parameter, members_of, number_of_members
from insync.model.expressions.graph import Variable
from insync.model.expressions.lifted import Action, Expect, LiftedGraph, Undecided, lifting
from insync.model.expressions.source import noting
from insync.model.expressions.store import LiftedStore
from insync.model.language.binders import value_of_variable, variable_over
from insync.model.language.choices import Choices, NewChoice
from insync.model.language.declarations import ActionSpec
from insync.model.tracing.methods import refuse_too_many, run_method
from insync.runtime.errors import ModelError

if TYPE_CHECKING:
    from insync.model.define import Model

__all__ = ["LiftedActions"]

_OF_PYTHON = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError)
"""Errors that Python raises where it is given a symbolic value for a number, such as in `f"{x:02}"`."""


class LiftedActions:
    """The tracing of lifted actions of one model.

    Args:
        model: the model; it is given the specifications of the actions that have choices.
        graph: the graph of the actions.
    """

    def __init__(self, model: Model, graph: LiftedGraph) -> None:
        self._model, self.graph = model, graph
        self._stores, self._parameters = itertools.count(1), itertools.count()

    def of(self, name: str, spec: ActionSpec) -> list[Action]:
        """Return an action for all values of as many parameters as possible, and for each value of the others.

        Raises:
            ModelError: it cannot be traced.
        """
        return self._with_choices(name, spec, self._of)

    def one_by_one(self, name: str, spec: ActionSpec) -> list[Action]:
        """Return an action for each value of all parameters, with quantifiers expanded.

        Parameters and quantifiers over open sorts stay as they are.

        Raises:
            ModelError: it cannot be traced.
        """
        return self._with_choices(name, spec, self._one_by_one)

    def _with_choices(
        self, name: str, spec: ActionSpec, trace: Callable[[str, ActionSpec], list[Action]]
    ) -> list[Action]:
        """Trace an action again for each choice that tracing finds in it."""
        while True:
            try:
                return trace(name, spec)
            except NewChoice as choice:
                spec = spec.with_choice(choice.name, choice.kind)
                self._model._choosing[name] = spec
                refuse_too_many(self._model, f"{spec.place}: the {spec.word} {name!r}", spec.parameters)

    def _of(self, name: str, spec: ActionSpec) -> list[Action]:
        kinds = spec.parameters
        if any(number_of_members(kind, self._model.b) == 0 for kind in kinds.values()):
            return []
        decided = {one for one, kind in kinds.items() if issubclass(kind, Enum)}
        while True:
            try:
                return self._each(name, spec, decided, self.graph)
            except Undecided as undecided:
                more = {one.name for one in undecided.variables if one.number >= 0} - decided
                if not more:
                    break
                decided |= more
            except (ModelError, *_OF_PYTHON):
                break
        return self._one_by_one(name, spec)  # which raises the error of the first binding that has one

    def _one_by_one(self, name: str, spec: ActionSpec) -> list[Action]:
        sizes = {one: number_of_members(kind, self._model.b) for one, kind in spec.parameters.items()}
        kept = self.graph if isinstance(self.graph, OpenGraph) else None
        return self._each(name, spec, {one for one, size in sizes.items() if not is_open(size)}, kept)

    def _each(self, name: str, spec: ActionSpec, decided: set[str], kept: LiftedGraph | None) -> list[Action]:
        found = []
        chosen = [one for one in spec.parameters if one in decided]
        for values in itertools.product(*[members_of(spec.parameters[one], self._model.b) for one in chosen]):
            found.append(self.trace(name, spec, dict(zip(chosen, values, strict=True)), kept))
        return found

    def trace(self, name: str, spec: ActionSpec, fixed: Mapping[str, Parameter], kept: LiftedGraph | None) -> Action:
        """Return an action with values for some parameters; with nothing but its guard if that is false.

        Args:
            name: the name of the action.
            spec: its specification.
            fixed: the values.
            kept: the graph in which quantifiers are kept; None expands them.

        Raises:
            ModelError: it cannot be traced; `Undecided` if Python decides on another parameter.
        """
        graph, store = self.graph, LiftedStore(self.graph, next(self._stores))
        graph.made, graph.orders = {}, set()
        parameters: list[tuple[str, Parameter | Variable]] = []
        values: dict[str, Any] = {}
        for parameter, kind in spec.parameters.items():
            if parameter in fixed:
                parameters.append((parameter, fixed[parameter]))
                values[parameter] = fixed[parameter]
            else:
                variable = variable_over(parameter, kind, next(self._parameters))
                parameters.append((parameter, variable))
                values[parameter] = value_of_variable(graph, variable)
        kinds = {choice: spec.parameters[choice] for choice in spec.choices}
        given = {parameter: value for parameter, value in values.items() if parameter not in kinds}
        with lifting(kept), noting() as notes, Choices(given, kinds, values).offered() as choices:
            what = f"{spec.place}: the {spec.word} {name!r}"
            if not run_method(self._model, store, getattr(self._model, name), list(given.values()), what):
                return Action(name, tuple(parameters), (graph.false,), (), (), notes=notes)
        choices.refuse_unreached(spec.place)
        expects = tuple(Expect(one.where, one.condition, one.recorded) for one in store.expected)
        return Action(
            name,
            tuple(parameters),
            tuple(store.guard),
            tuple(store.assigns),
            expects,
            graph.made,
            tuple(graph.orders),
            notes,
        )
