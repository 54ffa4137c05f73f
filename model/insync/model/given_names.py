"""Lists of names that users give. One string in place of a list is refused, as Python would read it letter by letter.

Every public function checks a parameter of names with `given_names`, or with `given_list` where it also takes
functions. `names_in_class` checks the attributes of a model's class that list names.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from insync.runtime.errors import ModelError, UserError, shown

__all__ = ["NAMED", "given_list", "given_names", "names_in_class"]

T = TypeVar("T")

NAMED = {
    "action_order": "actions",
    "headline": "properties",
    "within": "invariants",
    "unbounded": "bounds",
    "rare_options": "options",
}
"""The attributes of a model's class that are tuples of names, and what these name."""


def given_list(argument: str, given: Iterable[T]) -> tuple[T, ...]:
    """Return the entries of a list argument: names, or functions where it takes these as well.

    Args:
        argument: the name of the parameter.
        given: its value.

    Raises:
        UserError: it is one string in place of several, or not a list.
    """
    if isinstance(given, str):
        message = f"{argument}={given!r} is one string; give a list of names: {argument}=[{given!r}]."
        raise UserError(message)
    anything: object = given
    if not isinstance(anything, Iterable):
        raise UserError(_no_list(argument, given))
    return tuple(given)


def given_names(argument: str, given: Iterable[object]) -> tuple[str, ...]:
    """Return the names that an argument lists.

    Args:
        argument: the name of the parameter.
        given: its value.

    Raises:
        UserError: it is one string in place of several, or holds anything but names.
    """
    listed = given_list(argument, given)
    names = tuple(name for name in listed if isinstance(name, str))
    if len(names) == len(listed):
        return names
    called = [name if isinstance(name, str) else getattr(name, "__name__", None) for name in listed]
    if None not in called:
        message = (
            f"{argument} holds {', '.join(map(str, called))} as functions; give their names: {argument}={called!r}."
        )
        raise UserError(message)
    raise UserError(_no_list(argument, given))


def names_in_class(place: str, attribute: str, given: object) -> tuple[str, ...]:
    """Return the names that an attribute of a model's class lists.

    Args:
        place: the place of the class, with a colon and a space.
        attribute: one of `NAMED`.
        given: its value.

    Raises:
        ModelError: it is anything but a tuple or list of names.
    """
    if isinstance(given, str):
        message = f"{place}{attribute} is the string {given!r}. Write a tuple of names: {attribute} = ({given!r},)."
        raise ModelError(message)
    listed = given if isinstance(given, tuple | list) else (None,)
    names = tuple(name for name in listed if isinstance(name, str))
    if len(names) < len(listed):
        what = f"Write a tuple of names of {NAMED[attribute]}, or leave it out."
        message = f"{place}{attribute} is {shown(given)}. {what}"
        raise ModelError(message)
    return names


def _no_list(argument: str, given: object) -> str:
    return f"{argument}={shown(given)} is not a list of names; write {argument}=['name', ...]."
