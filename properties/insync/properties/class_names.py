"""The properties that a model's class names: those checked when none is named, and those that it is confined to."""

from __future__ import annotations

import inspect
from collections.abc import Iterable

from insync.model import Model
from insync.model.given_names import given_names

__all__ = ["headline_of", "names_within", "place_of_names"]


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
