"""Lemma candidates: conditions that may hold in every state, registered for a model class as the properties are.

A lemma is an `Invariant` that nobody asks for by itself: it is there to make another one provable. A candidate need
not be true of every model of its class; whoever uses it finds out (`induction`, `houdini`).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from typing import TypeVar

from insync.model import Condition, Model, StateView
from insync.model.errors import InternalError, UserError, closest
from insync.model.graph import Node
from insync.properties.property import Because, Invariant, invariants_of, sentence_of

__all__ = ["lemma_of", "lemmas_of", "select_lemmas"]

M = TypeVar("M", bound=Model)
Predicate = Callable[[M, StateView], Condition]

_MODULES = ("lemmas_requests", "lemmas_logs", "lemmas_commitment")
"""The modules that register candidates, in the order in which these are shown; imported when they are asked for."""

_LIBRARY: list[tuple[type[Model], Invariant]] = []


def lemma_of(kind: type[M], because: Because | None = None) -> Callable[[Predicate[M]], Predicate[M]]:
    """Register a function as a lemma candidate of a model class and its subclasses, under the function's name.

    Args:
        kind: the model class.
        because: says why the lemma fails in a state.
    """

    def register(predicate: Predicate[M]) -> Predicate[M]:
        name = predicate.__name__

        def node(model: Model) -> Node:
            if not isinstance(model, kind):
                message = f"{name} is a lemma of {kind.__name__}, and {model.name} is not one"
                raise InternalError(message)
            return model.trace_predicate(lambda s: predicate(model, s))

        _LIBRARY.append((kind, Invariant(name, sentence_of(predicate), node, because)))
        return predicate

    return register


def lemmas_of(model: Model) -> dict[str, Invariant]:
    """Return the lemma candidates of a model by name, in the order of their definition."""
    for module in _MODULES:
        importlib.import_module(f"insync.properties.kafka.{module}")
    return {lemma.name: lemma for kind, lemma in _LIBRARY if isinstance(model, kind)}


def select_lemmas(model: Model, names: Iterable[str]) -> list[Invariant]:
    """Return the named lemmas of a model, each once; an invariant of the model may serve as a lemma as well.

    Raises:
        UserError: the model has neither a lemma nor an invariant of that name.
    """
    known = {**invariants_of(model), **lemmas_of(model)}
    for name in names:
        if name not in known:
            message = f"{model.name} has no lemma {name!r}. {closest(name, known)}"
            raise UserError(message)
    return [known[name] for name in dict.fromkeys(names)]
