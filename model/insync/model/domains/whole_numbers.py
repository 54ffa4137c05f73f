"""Ranges of whole numbers with a name: what parameters, fields and quantifiers range over where no sort is meant."""

from __future__ import annotations

from typing import Any, ClassVar

from insync.model.domains.bound_terms import BoundTerm, is_whole, value_of
from insync.model.domains.bounds import BoundValues
from insync.model.errors import ModelError, user_frame

__all__ = ["Range"]


class Range(int):
    """The whole numbers from `lo` to `hi`, both included; subclass it to declare a range.

    Its members are plain numbers: a parameter of an action that is annotated with it is an int while it is traced.

    Attributes:
        lo: the first number, 0 unless the class says something else; a number or `bound("name")`.
        hi: the last number, likewise.
    """

    lo: ClassVar[Any] = 0
    hi: ClassVar[Any]
    place: ClassVar[str] = ""

    def __init_subclass__(cls, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        cls.place = user_frame()
        ends = [getattr(cls, name) for name in ("lo", "hi") if hasattr(cls, name)]
        if len(ends) < 2:
            message = f'{cls.place}: the range {cls.__name__} has no last number; write `lo, hi = 0, bound("name")`.'
            raise ModelError(message)
        for end in ends:
            if not isinstance(end, BoundTerm) and not is_whole(end):
                message = (
                    f"{cls.place}: the range {cls.__name__} goes from {ends[0]!r} to {ends[1]!r}; each of them is a "
                    f'whole number or bound("name").'
                )
                raise ModelError(message)
        if all(map(is_whole, ends)) and ends[0] > ends[1]:
            message = (
                f"{cls.place}: the range {cls.__name__} goes from {ends[0]} to {ends[1]}; its first number must not be "
                f"above its last."
            )
            raise ModelError(message)

    @classmethod
    def numbers(cls, bounds: BoundValues) -> range:
        """Return the numbers under these bounds; none where the last is below the first."""
        return range(value_of(cls.lo, bounds), value_of(cls.hi, bounds) + 1)
