"""The types of the values of options, and groups of options that a command receives as one object."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import click

from insync.cli.completion import Completion, file_names, names
from insync.cli.terminal import emit_error

__all__ = [
    "ENGINES",
    "Decorator",
    "GivenPath",
    "Named",
    "Option",
    "OutputPath",
    "ReadFile",
    "RunPlace",
    "Seconds",
    "Size",
    "Whole",
    "gathered",
    "option",
]


ENGINES = ("local", "spark")
"""The names of the engines of searches."""


# Groups of options; a command receives a group as one object.


Decorator = Callable[[Callable[..., int]], Callable[..., int]]


@dataclass(frozen=True, slots=True)
class Option:
    """An option before it is added to a command: its name, and the attributes of `click.option`."""

    name: str
    attributes: dict[str, Any]


def option(name: str, **attributes: Any) -> Option:
    """Return an option, with the attributes of `click.option`."""
    return Option(name, attributes)


def gathered(argument: str, make: Callable[..., object], **options: Option) -> Decorator:
    """Return a decorator that adds options, whose values the command receives as one argument.

    Args:
        argument: the name of the argument.
        make: makes the argument from the values, by the names of `options`.
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


# Types of values.


_MOST_OFFERED = 40


_SIZE = re.compile(r"([0-9]{1,18}(?:\.[0-9]+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)
_WHOLE = re.compile(r"[+-]?[0-9]+|[0-9]{1,3}(_[0-9]{3})+")
_DIGITS = 20
_GREATEST = (1 << 63) - 1
_FACTORS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SMALLEST = 1 << 20


class Whole(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.3 alone
    """A whole number from `lowest` to `highest`; None is the greatest signed 64-bit number."""

    name = "number"

    def __init__(self, lowest: int, highest: int | None = None) -> None:
        self.lowest, self.highest = lowest, highest

    def allowed(self) -> str:
        """Return the range in words."""
        return f"of at least {self.lowest}" if self.highest is None else f"from {self.lowest} to {self.highest}"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number."""
        text = str(value)
        if not _WHOLE.fullmatch(text):
            self.fail(f"{str(value)!r} is not a whole number; give one {self.allowed()}.", param, ctx)
        greatest = _GREATEST if self.highest is None else self.highest
        beyond = self.lowest - 1 if text.startswith("-") else greatest + 1
        number = int(text) if len(text) <= _DIGITS else beyond
        if not self.lowest <= number <= greatest:
            most = f" and at most {greatest}" if self.highest is None and number > greatest else ""
            self.fail(f"{text} is out of range; give a whole number {self.allowed()}{most}.", param, ctx)
        return number

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Completion]:
        """Return the numbers, if there are few."""
        if self.highest is None or self.highest - self.lowest >= _MOST_OFFERED:
            return []
        return names(map(str, range(self.lowest, self.highest + 1)), incomplete)


class Size(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.3 alone
    """A number of bytes, at least 1 MiB: 300M, 2G, 1.5GiB; K, M, G and T are powers of 1024."""

    name = "size"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number of bytes."""
        match = _SIZE.fullmatch(str(value).strip())
        if match is None:
            self.fail(
                f"{str(value)!r} is not a size; give a number of bytes with a unit, such as 300M or 2G.", param, ctx
            )
        size = int(float(match[1]) * _FACTORS[match[2].upper()])
        if size < _SMALLEST:
            self.fail(
                f"{str(value)!r} is {size} bytes, too little for any search; give at least 1M, such as 300M or 2G.",
                param,
                ctx,
            )
        return size


class Named(click.ParamType):  # type: ignore[type-arg]
    """One of some names, or another spelling of one.

    Args:
        names: the names.
        advice: gives the sentence about any other text, by default with the nearest name.
        also: gives the member of an enumeration that another spelling stands for, or None.
    """

    name = "name"

    def __init__(
        self,
        names: Sequence[str],
        advice: Callable[[str], str] | None = None,
        also: Callable[[str], Enum | None] = lambda given: None,
    ) -> None:
        self.names, self.advice, self.also = names, advice, also

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name."""
        from insync.runtime.errors import closest

        if value in self.names:
            return str(value)
        if (member := self.also(str(value))) is None:
            advice = closest(str(value), self.names) if self.advice is None else self.advice(str(value))
            self.fail(f"{str(value)!r} is not known. {advice}", param, ctx)
        if param is not None and not (ctx is not None and ctx.resilient_parsing):
            emit_error(f"warning: {param.opts[0]} {value} is answered as {member.value}, whose rules it has.")
        return str(member.value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Completion]:
        """Return the names that fit."""
        return names(self.names, incomplete)


class Seconds(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.3 alone
    """A time in seconds, whole or not, above 0."""

    name = "seconds"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the seconds."""
        try:
            seconds = float(str(value))
        except ValueError:
            seconds = math.nan
        if not (math.isfinite(seconds) and seconds > 0):
            self.fail(f"{str(value)!r} is not a time; give a number of seconds above 0, such as 60 or 0.5.", param, ctx)
        return seconds


class GivenPath(click.Path):
    """A path that is not empty; with `exists`, of a file or folder that exists."""

    def __init__(self, *, exists: bool = False, file_okay: bool = True, readable: bool = True) -> None:
        super().__init__(exists=exists, file_okay=file_okay, readable=readable, path_type=Path)

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path."""
        found = super().convert(_not_empty(self, value, param, ctx), param, ctx)
        assert isinstance(found, Path)
        return found


class ReadFile(GivenPath):
    """A path of a file to read. It is not checked here; reading it reports errors in the words of all commands."""

    def __init__(self) -> None:
        super().__init__(readable=False)


class OutputPath(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.3 alone
    """A path of a file to write."""

    name = "file"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path."""
        return Path(_not_empty(self, value, param, ctx))

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Completion]:
        """Return a request that the shell completes names of files."""
        return file_names(incomplete)


class RunPlace(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.3 alone
    """A run directory: the path of a folder, or on Spark a URI."""

    name = "folder"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the path or URI."""
        return _not_empty(self, value, param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Completion]:
        """Return a request that the shell completes names of folders."""
        return file_names(incomplete)


def _not_empty(
    kind: click.ParamType,  # type: ignore[type-arg]
    value: object,
    param: click.Parameter | None,
    ctx: click.Context | None,
) -> str:
    """Return a path, which must not be empty: an empty one is usually an unset variable of the shell."""
    if not (text := str(value)):
        folder = isinstance(kind, RunPlace) or (param is not None and param.metavar == "DIR")
        what = "folder" if folder else "file"
        kind.fail(f"the path is empty; name a {what}.", param, ctx)
    return text
