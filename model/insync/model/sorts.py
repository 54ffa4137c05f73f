"""Sorts: the finite kinds of things that states and parameters speak of, such as the replicas.

A sort is a subclass of `Index`; its members are whole numbers from 0 with a name to show. During
tracing a parameter of an action is a member, so plain Python decides on it.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, ClassVar, Self

from insync.model.bounds import BoundValues
from insync.model.errors import ModelError, user_frame

__all__ = ["Index", "Parameter", "Subset", "label_of"]


class Index(int):
    """A member of a sort; subclass it to declare the sort.

    Attributes:
        label: what a member is called, before its number; `b` gives b1, b2, ...
        first: the number that the first member shows.
    """

    label: ClassVar[str] = ""
    first: ClassVar[int] = 1

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        """Return how many members the sort has under these bounds, at least 1."""
        message = f"The sort {cls.__name__} does not say its size; give it a classmethod `size(cls, bounds)`."
        raise ModelError(message)

    @classmethod
    def members(cls, bounds: BoundValues) -> list[Self]:
        """Return the members in order."""
        return [cls(i) for i in range(cls.size(bounds))]

    @classmethod
    def show(cls, number: int) -> str:
        """Return what the member with this number is called."""
        return f"{cls.label}{number + cls.first}"

    def __str__(self) -> str:
        return self.show(int(self))

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({int(self)})"


class Subset(Index):
    """A set of members of another sort, as a sort of its own: `class Isr(Subset, of=Replica)`."""

    of: ClassVar[type[Index]]

    def __init_subclass__(cls, *, of: type[Index] | None = None, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        if of is not None:
            cls.of = of
        elif not hasattr(cls, "of"):
            message = (
                f"{user_frame()}: {cls.__name__} does not say of what; write `class {cls.__name__}(Subset, of=...)`."
            )
            raise ModelError(message)

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        """Return 2 to the number of members of the other sort."""
        return 1 << cls.of.size(bounds)

    @classmethod
    def show(cls, number: int) -> str:
        """Return the members in braces."""
        return "{" + ", ".join(cls.of.show(i) for i in range(number.bit_length()) if number >> i & 1) + "}"


Parameter = Index | bool | Enum
"""What a parameter of an action can be bound to."""


def label_of(value: Parameter) -> str:
    """Return what a parameter's value is called in traces."""
    if isinstance(value, Enum):
        return value.name
    return str(value).lower() if isinstance(value, bool) else str(value)
