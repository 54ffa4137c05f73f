"""Numbers that the bounds of a model give: `bound("workers")`, and what is calculated with it.

A class body such as that of a sort is read before any model has bounds, so it names the bound in place of its value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NoReturn, TypeGuard

from insync.model.domains.bounds import BoundValues
from insync.model.errors import ModelError, closest, shown, user_frame

__all__ = ["BoundTerm", "bound", "is_whole", "value_of"]


class BoundTerm:
    """A whole number that is known when the bounds are; it is added, subtracted, multiplied and divided by `//`.

    Args:
        text: how it is written.
        value: gives it under bounds.
    """

    __slots__ = ("_text", "_value")
    cure: ClassVar[str] = "It is for declaring sorts, ranges and Int; in the methods of a model write self.b.name."

    def __init__(self, text: str, value: Callable[[BoundValues], int]) -> None:
        self._text, self._value = text, value

    def value(self, bounds: BoundValues) -> int:
        """Return the number under these bounds."""
        return self._value(bounds)

    def __repr__(self) -> str:
        return self._text

    def _joined(self, sign: str, how: Callable[[int, int], int], a: object, b: object) -> BoundTerm:
        for part in (a, b):
            if not isinstance(part, BoundTerm) and not is_whole(part):
                message = f"{user_frame()}: {self!r} is calculated with whole numbers; {shown(part)} is not one."
                raise ModelError(message)
        first, second = (f"({part!r})" if " " in repr(part) else repr(part) for part in (a, b))
        return BoundTerm(f"{first} {sign} {second}", lambda bounds: how(value_of(a, bounds), value_of(b, bounds)))

    def __add__(self, other: BoundTerm | int) -> BoundTerm:
        return self._joined("+", int.__add__, self, other)

    def __radd__(self, other: int) -> BoundTerm:
        return self._joined("+", int.__add__, other, self)

    def __sub__(self, other: BoundTerm | int) -> BoundTerm:
        return self._joined("-", int.__sub__, self, other)

    def __rsub__(self, other: int) -> BoundTerm:
        return self._joined("-", int.__sub__, other, self)

    def __mul__(self, other: BoundTerm | int) -> BoundTerm:
        return self._joined("*", int.__mul__, self, other)

    def __rmul__(self, other: int) -> BoundTerm:
        return self._joined("*", int.__mul__, other, self)

    def __floordiv__(self, other: int) -> BoundTerm:
        if not is_whole(other) or other < 1:
            message = f"{user_frame()}: {self!r} can be divided by a whole number from 1, not by {shown(other)}."
            raise ModelError(message)
        return self._joined("//", int.__floordiv__, self, other)

    def __bool__(self, *_: object) -> NoReturn:
        message = (
            f"{user_frame()}: {self!r} has no value before the bounds are chosen, so Python cannot decide with it; "
            f"in the methods of a model self.b has the chosen bounds."
        )
        raise ModelError(message)

    __index__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__


def bound(name: str) -> BoundTerm:
    """Return the number that a bound of the model gives, to be used where a sort or a range is declared.

    >>> class Worker(Index):
    ...     size = bound("workers")

    Args:
        name: the name of the bound.

    Raises:
        ModelError: it is not a name; or, when a model is traced, it has no such bound.
    """
    place = user_frame()
    if not isinstance(name, str):
        message = f"{place}: bound({shown(name)}): a bound is given by its name, as in bound('workers')."
        raise ModelError(message)

    def value(bounds: BoundValues) -> int:
        if name not in bounds:
            message = f"{place}: bound({name!r}): the model has no bound {name!r}. {closest(name, bounds)}"
            raise ModelError(message)
        return value_of(bounds[name], bounds)

    return BoundTerm(f"bound({name!r})", value)


def is_whole(value: object) -> TypeGuard[int]:
    """Return whether a value is a whole number."""
    return isinstance(value, int) and not isinstance(value, bool)


def value_of(number: Any, bounds: BoundValues) -> int:
    """Return a number under bounds, given by itself or by what the bounds give."""
    return number.value(bounds) if isinstance(number, BoundTerm) else int(number)
