"""Domains: the type of a field, and how its values lie in cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from insync.model.domains.bounds import BoundValues
from insync.runtime.errors import UserError, shown
from insync.runtime.visible_text import in_one_line

__all__ = [
    "Domain",
    "DomainLike",
    "Readable",
    "plain",
]


Readable = Any
"""A value in plain Python: labels of members, None, names of an enumeration, lists, dicts, ints and bools."""

DomainLike = Any
"""A domain, a sort (an `Index` class), a `Range`, a Python enumeration class, or `Bool`."""


class Domain:
    """The type of a field. After `bind`, `width` is the number of cells of a value."""

    width: int

    def bind(self, bounds: BoundValues) -> Domain:
        """Return the bound domain: this one with the sizes that the bounds give."""
        raise NotImplementedError

    def cells(self, path: str) -> Iterator[tuple[str, int]]:
        """Yield the path and the number of codes of each cell, in order."""
        raise NotImplementedError

    def decode(self, codes: Sequence[int], at: int) -> Readable:
        """Return the readable value whose codes begin at a place of the list."""
        raise NotImplementedError

    def decode_after(self, codes: Sequence[int], at: int, former: Sequence[int], value: Readable) -> Readable:
        """Return the same as `decode`, sharing the parts of an earlier value whose codes are equal.

        Args:
            codes: the codes.
            at: the place of the first code of the value.
            former: the codes of the earlier value, at the same place.
            value: the earlier value; it must not be changed as long as the result is used.
        """
        end = at + self.width
        return value if codes[at:end] == former[at:end] else self.decode(codes, at)

    def encode(self, value: Readable, path: str) -> list[int]:
        """Return the codes of a readable value.

        Raises:
            UserError: the value is not in the domain; the message names the path.
        """
        raise NotImplementedError

    def shape(self) -> tuple[object, ...]:
        """Return a key that is equal for bound domains with the same values and codes."""
        raise NotImplementedError

    def number_of_values(self) -> int:
        """Return the number of values of a bound domain."""
        raise NotImplementedError

    def values(self) -> Iterator[tuple[int, ...]]:
        """Yield the codes of each value of a bound domain, in ascending order."""
        raise NotImplementedError

    def _reject(self, value: Readable, path: str, expected: str) -> NoReturn:
        message = f"{path or 'state'}: {shown(value)} is not a value of this field; expected {expected}."
        raise UserError(message)


def plain(value: object) -> str:
    """Return a readable value as it is written in a sentence, in one line."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"{{{', '.join(map(plain, value))}}}"
    if isinstance(value, dict):
        return f"({', '.join(f'{name}={plain(part)}' for name, part in value.items())})"
    return in_one_line(str(value))
