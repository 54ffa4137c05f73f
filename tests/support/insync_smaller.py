"""Smaller models that still show something: parts are left out, one after the other, as long as it is shown."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator
from typing import Any

from insync_drawn_data import Action, Begin, Described, Property, Run, Statement
from insync_drawn_terms import Term, const, subterms
from insync_drawn_types import BOOL

__all__ = ["smallest"]

_PARTS: dict[type, tuple[str, ...]] = {
    Described: ("runs", "properties", "actions", "begins", "plain"),
    Action: ("body", "requires", "late", "parameters"),
    Begin: ("body", "requires", "anything", "parameters"),
    Property: ("condition", "parameters"),
    Run: ("weak", "strong", "when", "then", "parameters"),
    Statement: ("body", "terms"),
}
"""What is made smaller in each part of a model."""


def smallest(model: Described, shows: Callable[[Described], bool], seconds: float) -> Described:
    """Return a model of which nothing can be left out, or what is found in some seconds.

    Args:
        model: the model.
        shows: whether a smaller model still shows what it is about.
        seconds: how long it may take.
    """
    end = time.monotonic() + seconds
    found = True
    while found:
        found = False
        for one in _smaller(model):
            if time.monotonic() > end:
                return model
            if shows(one):
                model, found = one, True
                break
    return model


def _smaller(part: Any) -> Iterator[Any]:
    """Yield a part of a model with one thing less."""
    if isinstance(part, Term):
        yield from _terms(part)
    elif isinstance(part, tuple):
        for place, one in enumerate(part):
            yield (*part[:place], *part[place + 1 :])
            if isinstance(one, Statement) and one.body:
                yield (*part[:place], *one.body, *part[place + 1 :])
        for place, one in enumerate(part):
            yield from ((*part[:place], less, *part[place + 1 :]) for less in _smaller(one))
    else:
        for name in _PARTS.get(type(part), ()):
            value = getattr(part, name)
            if name == "late" and value is not None:
                yield dataclasses.replace(part, late=None)
            if name == "properties" and part.within:
                yield dataclasses.replace(part, within=())
            yield from (dataclasses.replace(part, **{name: less}) for less in _smaller(value))


def _terms(term: Term) -> Iterator[Term]:
    """Yield terms of the same type that are smaller."""
    if term.op != "const":
        if term.type == BOOL:
            yield from (const(BOOL, value) for value in (True, False))
        for inner in subterms(term):
            if inner is not term and inner.type == term.type:
                yield inner
    for place, arg in enumerate(term.args):
        for less in _terms(arg):
            yield dataclasses.replace(term, args=(*term.args[:place], less, *term.args[place + 1 :]))
