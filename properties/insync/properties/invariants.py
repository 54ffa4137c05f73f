"""What a property of states is: a condition with a name and a sentence, and a reason where it fails."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MethodType
from typing import Any, Concatenate, TypeVar
from weakref import WeakKeyDictionary

from insync.model import Condition, Model, ReadableState, StateView
from insync.model.actions import invariant_specs, place_of_function
from insync.model.graph import Node

__all__ = [
    "Because",
    "Failure",
    "Invariant",
    "Predicate",
    "invariant_beside",
    "kept_for",
    "own_invariant",
    "sentence_of",
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
