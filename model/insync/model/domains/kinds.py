"""What parameters and quantifiers range over: a sort, a range, an enumeration, or false and true."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum

from insync.model.domains.bound_terms import value_of
from insync.model.domains.bounds import BoundValues
from insync.model.domains.open_bounds import OpenMembers, is_open
from insync.model.domains.sorts import Index, Parameter
from insync.model.domains.whole_numbers import Range

__all__ = ["chosen_bounds", "is_kind", "members_of", "number_of_members", "under"]

chosen_bounds: ContextVar[BoundValues | None] = ContextVar("chosen_bounds", default=None)
"""The bounds of the model that is being traced."""


@contextmanager
def under(bounds: BoundValues) -> Iterator[None]:
    """Let sorts and ranges have the members that they have under these bounds."""
    token = chosen_bounds.set(bounds)
    try:
        yield
    finally:
        chosen_bounds.reset(token)


def is_kind(given: object) -> bool:
    """Return whether a value is a class whose members a parameter or a quantifier can range over."""
    if not isinstance(given, type) or given in (Index, Range, Enum):
        return False
    return issubclass(given, (Index, Range, Enum)) or given is bool


def number_of_members(kind: type, bounds: BoundValues) -> int:
    """Return how many members a kind has under bounds, without making them."""
    if issubclass(kind, Index):
        return value_of(kind.size(bounds), bounds)
    return len(members_of(kind, bounds))


def members_of(kind: type, bounds: BoundValues) -> Sequence[Parameter]:
    """Return the members of a kind under bounds, in order; those of a range are plain numbers."""
    if issubclass(kind, Index):
        return kind.members(bounds)
    if issubclass(kind, Range):
        numbers = kind.numbers(bounds)
        return OpenMembers(kind, numbers.start, len(numbers)) if is_open(len(numbers)) else numbers
    return list(kind) if issubclass(kind, Enum) else (False, True)
