"""The properties that a model's class names: those checked when none is named, and those that it is confined to."""

from __future__ import annotations

import inspect
from collections.abc import Iterable

from insync.model import Model
from insync.model.errors import ModelError, UserError

__all__ = ["headline_of", "named_in", "names_within", "place_of_names"]


def headline_of(model: Model) -> tuple[str, ...] | None:
    """Return the properties that a model's class names as those to check when none is named; None where it is silent.

    Raises:
        ModelError: something else than a tuple of names stands there.
    """
    return None if model.headline is None else _names(type(model), "headline", "properties")


def names_within(model: Model, given: Iterable[str] | None = None) -> tuple[str, ...]:
    """Return the names of the invariants that a model is confined to, each once.

    Args:
        model: the model.
        given: what somebody wants; None is what it is confined to, or what its class says.

    Raises:
        UserError: what is given is not names.
        ModelError: something else than a tuple of names stands in the class.
    """
    if given is not None:
        return tuple(dict.fromkeys(named_in("within", given)))
    if model._confinement is not None:
        return model._confinement.names
    return tuple(dict.fromkeys(_names(type(model), "within", "invariants")))


def named_in(argument: str, names: object) -> tuple[str, ...]:
    """Return the names that an argument gives.

    Raises:
        UserError: it is one string in place of several, or not names at all.
    """
    if isinstance(names, str):
        message = f"{argument}={names!r} is one string; give a list of names: {argument}=[{names!r}]."
        raise UserError(message)
    listed = tuple(names) if isinstance(names, Iterable) else None
    called = [getattr(name, "__name__", name) for name in listed or ()]
    if all(isinstance(name, str) for name in called) and called != [*(listed or ())]:
        message = f"{argument} holds {', '.join(called)} as functions; give their names: {argument}={called!r}."
        raise UserError(message)
    if listed is None or not all(isinstance(name, str) for name in listed):
        message = f"{argument}={names!r} is not a list of names; write {argument}=['name', ...]."
        raise UserError(message)
    return listed


def place_of_names(kind: type[Model], attribute: str) -> str:
    """Return file, line and name of the class that says what an attribute is, with a colon and a space."""
    base = next(base for base in kind.__mro__ if attribute in vars(base))
    try:
        _, line = inspect.getsourcelines(base)
        place = f"{inspect.getsourcefile(base)}:{line}: "
    except (OSError, TypeError):  # a class that was made in a console has no source
        place = ""
    return f"{place}class {base.__name__}: "


def _names(kind: type[Model], attribute: str, what: str) -> tuple[str, ...]:
    given: object = getattr(kind, attribute)
    if isinstance(given, str):
        message = (
            f"{place_of_names(kind, attribute)}{attribute} is the string {given!r}. "
            f"Write a tuple of names: {attribute} = ({given!r},)."
        )
        raise ModelError(message)
    if not isinstance(given, tuple | list) or not all(isinstance(name, str) for name in given):
        where = place_of_names(kind, attribute)
        message = f"{where}{attribute} is {given!r}. Write a tuple of names of {what}, or leave it out."
        raise ModelError(message)
    return tuple(given)
