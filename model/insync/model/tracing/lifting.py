"""Runs the methods of a model on symbolic values: each action once, for all values of its parameters (lifting).

Python decides on some parameters, as by an `if`; then there is an action for each of their values. Python does that
unnoticed on members of an enumeration, by `is`, so these are enumerated always.
"""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any

from insync.model.domains.bounds import is_open
from insync.model.domains.open_bounds import OpenGraph
from insync.model.domains.sorts import Index, Parameter, Subset, label_of, members_of, number_of_members
from insync.model.domains.symbolic import mistaken_call
from insync.model.expressions.graph import Variable
from insync.model.expressions.lifted import Action, Expect, LiftedGraph, Undecided, lifting
from insync.model.expressions.source import noting
from insync.model.expressions.store import Environment, LiftedStore, Place, Unreachable, current
from insync.model.language import set_views  # noqa: F401 -- it adds the views of containers
from insync.model.language.choices import Choices, NewChoice
from insync.model.language.declarations import ActionSpec, InitialSpec
from insync.model.language.quantifiers import value_of_variable, variable_over
from insync.model.language.views import StateView
from insync.runtime.errors import ModelError, insisting, shown
from insync.runtime.text import in_one_line

if TYPE_CHECKING:
    from insync.model.define import Model

__all__ = [
    "LiftedActions",
    "bindings_of",
    "label_of_action",
    "place_of",
    "refuse_mistaken_call",
    "refuse_too_many",
    "run_method",
    "state_view",
]

_MOST_BINDINGS = 20_000

_OF_PYTHON = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError)
"""Errors that Python raises where it is given a symbolic value for a number, such as in `f"{x:02}"`."""


def refuse_mistaken_call(error: TypeError) -> None:
    """Raise ModelError if the error is a call of a word of the language with wrong arguments."""
    message = mistaken_call(error)
    if message is not None:
        raise ModelError(message) from None


def place_of(function: Callable[..., object]) -> str:
    """Return file, line and name of a function."""
    written = inspect.unwrap(function)
    code, name = getattr(written, "__code__", None), getattr(written, "__name__", repr(function))
    return f"{code.co_filename}:{code.co_firstlineno}: {name}" if code else name


def refuse_too_many(model: Model, what: str, parameters: Mapping[str, type]) -> None:
    """Raise ModelError if parameters have too many bindings."""
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
    refuse_too_many(model, f"{spec.place}: the {spec.word} {name!r}", spec.parameters)
    return itertools.product(*[members_of(kind, model.b) for kind in spec.parameters.values()])


def state_view(model: Model, environment: Environment) -> StateView:
    """Return the view of the whole state in a store."""
    return StateView(model.state, Place(environment, 0, ""))


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
        returned = insisting(lambda: method(state_view(model, environment), *values))
    except Unreachable:
        return False
    except TypeError as error:
        refuse_mistaken_call(error)
        raise
    finally:
        current.reset(token)
    if returned is not None:
        hint = " (conditions go into require)" if environment.guarded else ""
        message = f"{what} returns {shown(returned)}; it must assign to the state and return nothing{hint}."
        raise ModelError(message)
    for place in environment.unopened.values():
        message = f"{place}: when(...) does nothing by itself; write `with when(...):` and the assignments below it."
        raise ModelError(message)
    return True


def label_of_action(name: str, spec: ActionSpec, parameters: dict[str, Parameter]) -> str:
    """Return a step in words: the label of its action with the names of its parameters' values."""
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
        with lifting(kept), noting() as notes, Choices(given, kinds, values) as choices:
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
            store.results(),
        )
