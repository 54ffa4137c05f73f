"""Options that belong together, which a command gets as one object."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click

__all__ = ["Decorator", "Option", "gathered", "option"]

Decorator = Callable[[Callable[..., int]], Callable[..., int]]


@dataclass(frozen=True, slots=True)
class Option:
    """An option that is not part of a command yet: its name on the command line, and what click is told of it."""

    name: str
    attributes: dict[str, Any]


def option(name: str, **attributes: Any) -> Option:
    """Return an option, with the attributes of `click.option`."""
    return Option(name, attributes)


def gathered(argument: str, make: Callable[..., object], **options: Option) -> Decorator:
    """Return a decorator that gives a command some options, whose values it gets as one argument.

    Args:
        argument: what the command calls it.
        make: makes the argument, from the values by the names that the options have here.
        options: the options, in the order of the help text.
    """

    def decorate(function: Callable[..., int]) -> Callable[..., int]:
        @functools.wraps(function)
        def command(*positional: object, **values: object) -> int:
            given = {name: values.pop(f"{argument}_{name}") for name in options}
            return function(*positional, **values, **{argument: make(**given)})

        decorated: Callable[..., int] = command
        for name, each in reversed(options.items()):
            decorated = click.option(each.name, f"{argument}_{name}", **each.attributes)(decorated)
        return decorated

    return decorate
