"""Exceptions: `UserError` for mistakes of users, `InternalError` for faults of insync; and helpers for messages.

Every message is one sentence or a few: the place, the value, what was expected and what to do. The command line prints
a `UserError` without a traceback and exits with 2; an `InternalError` keeps its traceback and exits with 70.
"""

from __future__ import annotations

import copy
import difflib
import inspect
import os
import re
import sys
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from types import BuiltinFunctionType, FrameType
from typing import Any, TypeVar

from insync.runtime.text import visible

__all__ = [
    "DomainError",
    "FormerName",
    "GuardError",
    "Insistent",
    "InternalError",
    "ModelError",
    "UserError",
    "author_frame",
    "closest",
    "insisting",
    "place_of_class",
    "raised",
    "shown",
    "user_frame",
]

_OWN = tuple(f"{Path(__file__).parents[1] / name}{os.sep}" for name in ("model", "runtime"))
_BRACKETS = {list: "[{}]", tuple: "({})"}
_BETWEEN = ("<string>", "<frozen", copy.__file__)  # such as the constructor that dataclasses write


class UserError(Exception):
    """A mistake in the user's input: a model, an option, a file."""

    def __str__(self) -> str:
        """Return the message with control characters as escapes; `args` has the message unchanged."""
        return visible(super().__str__())


T = TypeVar("T")

raised: ContextVar[list[Insistent] | None] = ContextVar("raised", default=None)
"""The insistent exceptions that the running work has made so far; None where no work is run by `insisting`."""


class Insistent(Exception):
    """An exception that ends work which `insisting` runs, even if an `except` of the author's code swallows it."""

    def __init__(self, *args: object) -> None:
        super().__init__(*args)
        if (made := raised.get()) is not None:
            made.append(self)


def insisting(work: Callable[[], T]) -> T:
    """Return the result of an author's code; raise the first insistent exception if that code swallowed any."""
    made: list[Insistent] = []
    token = raised.set(made)
    try:
        result = work()
    finally:
        raised.reset(token)
    if made:
        raise made[0]
    return result


class ModelError(Insistent, UserError):
    """A mistake in a model; the message names the author's file and line."""


class GuardError(UserError):
    """A step was requested whose guard does not hold in the state."""


class DomainError(UserError):
    """A step assigns a value that its field cannot hold, or assigns outside an array.

    Attributes:
        check: the check of the program that fails; None after pickling, as its nodes belong to one process.
    """

    def __init__(self, message: str, check: Any = None) -> None:
        super().__init__(message)
        self.check = check

    def __reduce__(self) -> tuple[type[DomainError], tuple[str]]:
        return type(self), (str(self),)


class FormerName(FutureWarning):
    """A name of the release before was given; it works in this release alone."""


class InternalError(Exception):
    """An assumption of insync's own was violated; the message says which."""


def closest(name: str, known: Iterable[str]) -> str:
    """Return a sentence with the nearest known name, or with all known names if none is near.

    Case, dashes, spaces and leading zeros of numbers make no difference.

    >>> closest("strong_irs", ["strong_isr", "weak_isr"]), closest("n-1", ["N-01", "N-11"])
    ("Did you mean 'strong_isr'?", "Did you mean 'N-01'?")
    """
    names = sorted(known)
    for other in names:
        if _bare(other) == _bare(name):
            return f"Did you mean {other!r}?"
    plain = {known.casefold(): known for known in names}
    near = difflib.get_close_matches(name.casefold(), plain, n=1, cutoff=0.6)
    if near:
        return f"Did you mean {plain[near[0]]!r}?"
    return f"Known: {', '.join(names)}." if names else "None is known."


def _bare(name: str) -> str:
    """Return a name without what people leave out of it."""
    return re.sub(r"[-_ ]|(?<!\d)0+(?=\d)", "", name.casefold())


def shown(value: object) -> str:
    """Return a value as a message shows it: its repr, or a description in place of a repr with a memory address.

    >>> shown((1, "x")), shown(int), shown(x for x in "ab"), shown(closest), shown([int, closest])
    ("(1, 'x')", 'int', 'this generator', 'the function closest', '[int, the function closest]')
    """
    if type(value) in _BRACKETS and isinstance(value, list | tuple):
        inside = ", ".join(map(shown, value))
        return _BRACKETS[type(value)].format(f"{inside}," if type(value) is tuple and len(value) == 1 else inside)
    text = value.__name__ if isinstance(value, type) else repr(value)
    if " at 0x" not in text and not text.startswith("<built-in"):
        return text
    name, kind = getattr(value, "__name__", "<lambda>"), type(value).__name__
    kind = "function" if isinstance(value, BuiltinFunctionType) else kind
    return f"this {kind}" if name.startswith("<") else f"the {kind} {name}"


def user_frame() -> str:
    """Return `file:line` of the innermost caller outside the modelling package."""
    frame = author_frame()
    return "<unknown>" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def place_of_class(kind: type) -> str:
    """Return `file:line: ` of a class, for the beginning of a message; empty where its source is not known."""
    try:
        return f"{inspect.getsourcefile(kind)}:{inspect.getsourcelines(kind)[1]}: "
    except (OSError, TypeError):
        return ""


def author_frame() -> FrameType | None:
    """Return the frame of the innermost caller outside the modelling package."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_inside(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


@lru_cache
def _is_inside(file: str) -> bool:
    """Return whether code of a file is not the author's."""
    return file.startswith((*_OWN, *_BETWEEN))
