"""What a property of states is: a condition with a name and a sentence, and a reason where it fails."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MethodType
from typing import Any, Concatenate, TypeVar
from weakref import WeakKeyDictionary

from insync.model import Condition, Model, ReadableState, StateView
from insync.model.define import DEADLOCK_FREE, TYPE_OK
from insync.model.errors import DomainError
from insync.model.evaluator import Codes, Evaluator, evaluate
from insync.model.expressions.graph import Node, Op
from insync.model.expressions.simplify import combine
from insync.model.given_names import given_names
from insync.model.language.declarations import invariant_specs, place_of_function
from insync.model.tracing.predicates import step_condition, step_invariant_specs, trace_step_predicate

__all__ = [
    "DEADLOCK_FREE",
    "TYPE_OK",
    "TYPE_OK_SENTENCE",
    "Because",
    "Failure",
    "Invariant",
    "PairPredicate",
    "Predicate",
    "StepInvariant",
    "deadlock_free",
    "headline_of",
    "invariant_beside",
    "kept_for",
    "names_within",
    "own_invariant",
    "own_step_invariant",
    "place_of_names",
    "sentence_of",
    "step_invariant_beside",
]


M = TypeVar("M", bound=Model)
T = TypeVar("T")

Predicate = Callable[Concatenate[M, StateView, ...], Condition]
"""A condition as it is written: a function of a model, its state, and parameters, for all values of which it holds."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Where an invariant fails in a state.

    Attributes:
        state: the readable state.
        bindings: what each quantified variable stands for where the invariant fails first, outermost first.
        conjunct: the condition to blame, in the model's words; empty if it is too long to be read.
        must_hold: whether that condition should have held; if False, it is to blame because it holds.
        fields: the value of each field that the condition reads, by the field's path.
        before: for a property of steps the readable state before the step; `state` is then the one after it.
    """

    state: ReadableState
    bindings: Mapping[str, str]
    conjunct: str
    must_hold: bool
    fields: Mapping[str, object]
    before: ReadableState | None = None


Because = Callable[[Failure], str]
"""Says in one sentence why an invariant fails, for whoever knows the protocol and not the model."""


@dataclass(frozen=True, slots=True)
class Invariant:
    """A condition that must hold in every reachable state. A lemma is one too: it makes others provable.

    Attributes:
        name: the name on the command line.
        sentence: what it means.
        node: traces it in a model's graph.
        because: says why it fails; None for the generic sentence.
        place: `file:line` of where it is written; empty where it is nobody's.
    """

    name: str
    sentence: str
    node: Callable[[Model], Node]
    because: Because | None = None
    place: str = ""

    def as_written(self, model: Model) -> Node:
        """Return the node of the condition as its author wrote it."""
        return self.node(model)


_KEPT: WeakKeyDictionary[Model, dict[object, Any]] = WeakKeyDictionary()
"""For each model what was traced of its properties: at large bounds tracing takes a second."""


def kept_for(model: Model, name: object, make: Callable[[], T]) -> T:
    """Return what was made for a model under a name; it is made when it is first asked for."""
    known = _KEPT.setdefault(model, {})
    if name not in known:
        known[name] = make()
    found: T = known[name]
    return found


def _traced(model: Model, written: object, predicate: Callable[..., Condition], parameters: Mapping[str, type]) -> Node:
    """Return the node of a condition in a model's graph."""
    return kept_for(model, written, lambda: model.trace_predicate(predicate, parameters))


def invariant_beside(
    kind: type[M], predicate: Predicate[M], parameters: Mapping[str, type], because: Because | None
) -> Invariant:
    """Return the invariant that a function beside the model's class means, under the function's name.

    Args:
        kind: the model class.
        predicate: of model, state and parameters.
        parameters: the type of each parameter: it must hold for all their values.
        because: says why it fails; None for the generic sentence.
    """

    def node(model: Model) -> Node:
        assert isinstance(model, kind), f"{predicate.__name__} is declared of {kind.__name__}, not of {model.name}"
        return _traced(model, predicate, MethodType(predicate, model), parameters)

    return Invariant(predicate.__name__, sentence_of(predicate), node, because, place_of_function(predicate))


def own_invariant(kind: type[Model], name: str) -> Invariant:
    """Return the invariant that a method of the model means."""
    written = getattr(kind, name)
    parameters = invariant_specs(kind)[name].parameters
    return Invariant(
        name,
        sentence_of(written),
        lambda model: _traced(model, written, getattr(model, name), parameters),
        place=place_of_function(written),
    )


def sentence_of(function: Callable[..., object]) -> str:
    """Return the first paragraph of a docstring as one line."""
    return " ".join((inspect.getdoc(function) or "").split("\n\n")[0].split())


# What a property of steps is: a condition on the state before a step and the one after it, with a name and a
# sentence.
#
# Every step that changes the state must meet it. As a condition on states it says that no step from the state breaks
# it, so whoever checks conditions on states checks it as well. The definition is the condition on two states: what is
# found is judged by that again, with the evaluator.


PairPredicate = Callable[Concatenate[M, StateView, StateView, ...], Condition]
"""A condition on a step as it is written: a function of a model, the states before and after, and parameters."""


@dataclass(frozen=True, slots=True)
class StepInvariant(Invariant):
    """A condition that every step from a reachable state must meet, if it changes the state.

    Attributes:
        pair: the condition on two states, in a graph of its own; see `insync.model.tracing.predicates`.
        by_action: for each bound action of a model the condition on the state before that its step meets `pair`.
    """

    pair: Callable[[Model], Node] = field(kw_only=True)
    by_action: Callable[[Model], tuple[Node, ...]] = field(kw_only=True)

    def as_written(self, model: Model) -> Node:
        return self.pair(model)

    def met(self, model: Model, before: Codes, after: Codes) -> bool:
        """Return whether a step from one state to another meets the condition."""
        return before == after or bool(evaluate(self.pair(model), (*before, *after)))

    def bad_step(self, model: Model, codes: Sequence[int]) -> tuple[int, Codes] | None:
        """Return a step from a state that does not meet the condition: the least number of an action, the state after.

        Every enabled action is taken with the evaluator; None means that all its steps meet the condition.
        """
        evaluator, before = Evaluator(model.program), tuple(codes)
        for number in evaluator.enabled(before):
            try:
                after = evaluator.step(number, before)
            except DomainError:  # no step at all: a violation of type_ok
                continue
            if not self.met(model, before, after):
                return number, after
        return None


def step_invariant_beside(
    kind: type[M], predicate: PairPredicate[M], parameters: Mapping[str, type], because: Because | None
) -> StepInvariant:
    """Return the step invariant that a function beside the model's class means, under the function's name.

    Args:
        kind: the model class.
        predicate: of model, state before, state after and parameters.
        parameters: the type of each parameter: it must hold for all their values.
        because: says why a step breaks it; None for the generic sentence.
    """

    def bound(model: Model) -> Callable[..., Condition]:
        assert isinstance(model, kind), f"{predicate.__name__} is declared of {kind.__name__}, not of {model.name}"
        return MethodType(predicate, model)

    return _made(predicate.__name__, predicate, bound, parameters, because)


def own_step_invariant(kind: type[Model], name: str) -> StepInvariant:
    """Return the step invariant that a method of the model means."""
    parameters = step_invariant_specs(kind)[name].parameters
    return _made(name, getattr(kind, name), lambda model: getattr(model, name), parameters, None)


def _made(
    name: str,
    function: Callable[..., object],
    bound: Callable[[Model], Callable[..., Condition]],
    parameters: Mapping[str, type],
    because: Because | None,
) -> StepInvariant:
    def pair(model: Model) -> Node:
        return kept_for(model, (function, "pair"), lambda: trace_step_predicate(model, bound(model), parameters))

    def by_action(model: Model) -> tuple[Node, ...]:
        def made() -> tuple[Node, ...]:
            return tuple(step_condition(model.program, pair(model), action) for action in model.program.actions)

        return kept_for(model, (function, "by action"), made)

    def node(model: Model) -> Node:
        return combine(model.program.graph, Op.AND, list(by_action(model)))

    place = place_of_function(function)
    return StepInvariant(name, sentence_of(function), node, because, place, pair=pair, by_action=by_action)


# What every model has without saying so: the invariant deadlock_free, and type_ok.


TYPE_OK_SENTENCE = "Every step assigns values that their fields can hold, at places that their arrays have."


def _some_action_is_enabled(model: Model) -> Node:
    def made() -> Node:
        graph = model.program.graph
        guards = [combine(graph, Op.AND, list(action.guard)) for action in model.program.actions]
        return combine(graph, Op.OR, [model.program.outside, *guards])

    return kept_for(model, DEADLOCK_FREE, made)


deadlock_free = Invariant(
    DEADLOCK_FREE,
    "Some action is enabled. Bounds stop most models some time, so look at where they stop.",
    _some_action_is_enabled,
    lambda _: "No action is enabled in this state: nothing happens any more.",
)


# The properties that a model's class names: those checked when none is named, and those that it is confined to.


def headline_of(model: Model) -> tuple[str, ...] | None:
    """Return the properties that a model's class names to be checked when nobody names any; None where it is silent."""
    return None if model.headline is None else tuple(model.headline)


def names_within(model: Model, given: Iterable[str] | None = None) -> tuple[str, ...]:
    """Return the names of the invariants that a model is confined to, each once.

    Args:
        model: the model.
        given: what somebody wants; None is what it is confined to, or what its class says.

    Raises:
        UserError: what is given is not names.
    """
    if given is not None:
        return tuple(dict.fromkeys(given_names("within", given)))
    if model._confinement is not None:
        return model._confinement.names
    return tuple(dict.fromkeys(model.within))


def place_of_names(kind: type[Model], attribute: str) -> str:
    """Return file, line and name of the class that says what an attribute is, with a colon and a space."""
    base = next(base for base in kind.__mro__ if attribute in vars(base))
    try:
        _, line = inspect.getsourcelines(base)
        place = f"{inspect.getsourcefile(base)}:{line}: "
    except (OSError, TypeError):  # a class that was made in a console has no source
        place = ""
    return f"{place}class {base.__name__}: "
