"""What a property of states is, and which of them a model has.

A property of the library is a function of a model and its state, registered for a model class with `property_of`; its
docstring is the sentence that it means. A model's own `@invariant` methods are properties as well, and every model has
`deadlock_free`. `type_ok` can be named like a property and is not one: it is about steps, and every engine checks it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from insync.model import Condition, Model, ReadableState, StateView
from insync.model.define import invariant_names
from insync.model.errors import InternalError, UserError, closest
from insync.model.graph import Node
from insync.properties.deadlock import DEADLOCK_FREE, DEADLOCK_SENTENCE, no_deadlock

__all__ = [
    "TYPE_OK",
    "Because",
    "Failure",
    "Invariant",
    "Judged",
    "invariants_of",
    "judge",
    "property_of",
    "select",
    "sentence_of",
    "sentences_of",
]

TYPE_OK = "type_ok"
"""The name of what every engine checks by itself: no step leaves the domain of a field."""

_TYPE_OK_SENTENCE = "Every step assigns values that their fields can hold, at places that their arrays have."

M = TypeVar("M", bound=Model)
Predicate = Callable[[M, StateView], Condition]


@dataclass(frozen=True, slots=True)
class Failure:
    """Where a property fails in a state.

    Attributes:
        state: the readable state.
        bindings: what each quantified variable stands for where the property fails first, outermost first.
        conjunct: the condition to blame, in the model's words; empty if it is too long to be read.
        must_hold: whether that condition should have held; it is to blame for holding where not.
        fields: the value of each field that the condition reads, by the field's path.
    """

    state: ReadableState
    bindings: Mapping[str, str]
    conjunct: str
    must_hold: bool
    fields: Mapping[str, object]


Because = Callable[[Failure], str]
"""Says in one sentence why a property fails, for whoever knows the protocol and not the model."""


@dataclass(frozen=True, slots=True)
class Invariant:
    """A condition that must hold in every reachable state.

    Attributes:
        name: the name on the command line.
        sentence: what it means.
        node: traces it in a model's graph.
        because: says why it fails; None for the generic sentence.
    """

    name: str
    sentence: str
    node: Callable[[Model], Node]
    because: Because | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """What a model is judged by.

    Attributes:
        names: what was asked for, each once and in the order given; type_ok may be among them.
        invariants: those of them that have a condition.
        nodes: the condition of each invariant.
    """

    names: tuple[str, ...]
    invariants: tuple[Invariant, ...]
    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class _Registered:
    kind: type[Model]
    found: Invariant


_LIBRARY: list[_Registered] = []

_DEADLOCK_FREE = Invariant(
    DEADLOCK_FREE,
    DEADLOCK_SENTENCE,
    no_deadlock,
    lambda _: "No action is enabled in this state: nothing happens any more.",
)


def property_of(kind: type[M], because: Because | None = None) -> Callable[[Predicate[M]], Predicate[M]]:
    """Register a function as a property of a model class and its subclasses, under the function's name.

    Args:
        kind: the model class.
        because: says why the property fails in a state.
    """

    def register(predicate: Predicate[M]) -> Predicate[M]:
        name = predicate.__name__

        def node(model: Model) -> Node:
            if not isinstance(model, kind):
                message = f"{name} is a property of {kind.__name__}, and {model.name} is not one"
                raise InternalError(message)
            return model.trace_predicate(lambda s: predicate(model, s))

        _LIBRARY.append(_Registered(kind, Invariant(name, sentence_of(predicate), node, because)))
        return predicate

    return register


def sentence_of(function: Callable[..., object]) -> str:
    """Return the first paragraph of a docstring as one line."""
    return " ".join((inspect.getdoc(function) or "").split("\n\n")[0].split())


def invariants_of(model: Model) -> dict[str, Invariant]:
    """Return the invariants of a model by name: the library's, its own, and deadlock_free."""
    found = {r.found.name: r.found for r in _LIBRARY if isinstance(model, r.kind)}
    for name in invariant_names(type(model)):
        found[name] = _own(name, sentence_of(getattr(model, name)))
    return {**found, DEADLOCK_FREE: _DEADLOCK_FREE}


def _own(name: str, sentence: str) -> Invariant:
    return Invariant(name, sentence, lambda model: model.trace_predicate(getattr(model, name)))


def sentences_of(model: Model) -> dict[str, str]:
    """Return what each property of states of a model means, by name, type_ok included."""
    return {**{name: found.sentence for name, found in invariants_of(model).items()}, TYPE_OK: _TYPE_OK_SENTENCE}


def select(model: Model, names: Iterable[str] | None = None) -> tuple[str, ...]:
    """Return the names of properties of states, each once and in the order given; None names the model's headline.

    Raises:
        UserError: the model has no property of that name.
    """
    return _selected(model, names)[0]


def judge(model: Model, names: Iterable[str] | None = None) -> Judged:
    """Return what a model is judged by: the named properties of states; None names its headline properties.

    The lemmas that proofs use can be named as well, to search for a state in which one fails.

    Raises:
        UserError: the model has no property of that name.
    """
    chosen, invariants = _selected(model, names)
    return Judged(chosen, invariants, tuple(found.node(model) for found in invariants))


def _selected(model: Model, names: Iterable[str] | None) -> tuple[tuple[str, ...], tuple[Invariant, ...]]:
    known = invariants_of(model)
    chosen = tuple(dict.fromkeys(model.headline if names is None else names))
    if not all(name in known or name == TYPE_OK for name in chosen):
        from insync.properties.lemmas import lemmas_of  # here because lemmas are made of properties

        usable = {**lemmas_of(model), **known}
        for name in chosen:
            if name not in usable and name != TYPE_OK:
                message = _unknown(model, name, [*known, TYPE_OK])
                raise UserError(message)
        known = usable
    return chosen, tuple(known[name] for name in chosen if name != TYPE_OK)


def _unknown(model: Model, name: str, known: Iterable[str]) -> str:
    from insync.properties.progress import progress_of  # here because it is built on this module

    if name in progress_of(model):
        return f"{name} is about runs, not about states: `insync liveness {model.name} --property {name}` decides it."
    return f"{model.name} has no property {name!r}. {closest(name, known)}"
