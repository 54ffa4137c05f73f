"""Sorts and ranges: the finite kinds of values that parameters, quantifiers and arrays range over.

A sort, such as the replicas, is a subclass of `Index`; its members are whole numbers from 0 with a name to show. A
range is a subclass of `Range`; its members are plain numbers. Parameters also range over enumerations and over false
and true. While an action is traced its parameters are members, so plain Python decides on them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum
from types import FunctionType
from typing import Any, ClassVar, Self

from insync.model.domains.bounds import BoundTerm, BoundValues, is_open, is_whole, value_of
from insync.model.domains.open_bounds import OpenMembers
from insync.runtime.errors import ModelError, place_of_class, shown, user_frame

__all__ = [
    "Index",
    "Parameter",
    "Range",
    "Subset",
    "chosen_bounds",
    "is_kind",
    "label_of",
    "members_of",
    "number_of_members",
    "under",
]


def _no_size(cls: type, bounds: BoundValues) -> int:
    place = place_of_class(cls)
    message = f'{place}The sort {cls.__name__} does not say its size; write `size = bound("name")` or `size = 3` in it.'
    raise ModelError(message)


class Index(int):
    """A member of a sort; subclass it to declare the sort.

    Attributes:
        size: the number of members: `bound("workers")`, a number, or a classmethod of the bounds.
        label: the name of a member before its number; `b` gives b1, b2, ... By default it is the name of the class.
        first: the number in the name of the first member.
        symmetric: whether the model treats all members alike, declared by `class Node(Index, symmetric=True)`. A search
            then visits one of all states that are equal up to a permutation of the members.
    """

    size: Any = classmethod(_no_size)  # were it a ClassVar, pyright would refuse a classmethod in its place
    label: ClassVar[str] = ""
    first: ClassVar[int] = 1
    symmetric: ClassVar[bool] = False

    def __init_subclass__(cls, *, symmetric: bool | None = None, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        if symmetric is not None:
            _check_symmetric(cls, symmetric)
            cls.symmetric = symmetric
        if "size" in vars(cls):
            _read_size(cls, vars(cls)["size"])
        if not any("label" in vars(base) for base in cls.__mro__[:-1] if base is not Index):
            cls.label = cls.__name__.lower()

    @classmethod
    def members(cls, bounds: BoundValues) -> Sequence[Self]:
        """Return the members in order."""
        size = value_of(cls.size(bounds), bounds)
        return OpenMembers(cls, 0, size) if is_open(size) else [cls(i) for i in range(size)]

    @classmethod
    def show(cls, number: int) -> str:
        """Return the name of the member with this number."""
        return f"{cls.label}{number + cls.first}"

    def __eq__(self, other: object) -> bool:
        """Compare with a member of the same sort, or with a number; members of two sorts are never equal."""
        _check_comparable(self, other)
        return int.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        _check_comparable(self, other)
        return int.__ne__(self, other)

    def __lt__(self, other: int) -> bool:
        _check_comparable(self, other)
        return int.__lt__(self, other)

    def __le__(self, other: int) -> bool:
        _check_comparable(self, other)
        return int.__le__(self, other)

    def __gt__(self, other: int) -> bool:
        _check_comparable(self, other)
        return int.__gt__(self, other)

    def __ge__(self, other: int) -> bool:
        _check_comparable(self, other)
        return int.__ge__(self, other)

    __hash__ = int.__hash__

    def __str__(self) -> str:
        return self.show(int(self))

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({int(self)})"


def _check_comparable(member: Index, other: object) -> None:
    """Refuse to compare members of two sorts unless one sort is a subclass of the other."""
    one, another = type(member), type(other)
    if one is not another and issubclass(another, Index) and not (issubclass(one, another) or issubclass(another, one)):
        message = (
            f"{user_frame()}: {member} is a member of {one.__name__} and {other} of {another.__name__}: they are never "
            f"the same thing. Compare members of one sort, or their numbers, int(...)."
        )
        raise ModelError(message)


def _check_symmetric(sort: type[Index], symmetric: object) -> None:
    if not isinstance(symmetric, bool):
        message = f"{user_frame()}: {sort.__name__}: symmetric={shown(symmetric)} must be True or False."
        raise ModelError(message)
    if symmetric and issubclass(sort, Subset):
        message = (
            f"{user_frame()}: {sort.__name__}: sets of members are alike where the members are; write symmetric=True "
            f"on the sort that they are members of."
        )
        raise ModelError(message)


def _read_size(sort: type[Index], given: object) -> None:
    """Make a sort's size a function of the bounds, in whichever form it is given."""
    if isinstance(given, (classmethod, staticmethod)):
        return
    if isinstance(given, FunctionType):
        message = f"{user_frame()}: {sort.__name__}.size is about the sort; write @classmethod above it."
        raise ModelError(message)
    if not isinstance(given, BoundTerm) and not (is_whole(given) and given >= 0):
        message = (
            f"{user_frame()}: {sort.__name__}.size is {shown(given)}; write a whole number from 0, bound('name') with "
            f"the name of a bound of the model, or a classmethod `size(cls, bounds)`."
        )
        raise ModelError(message)
    sort.size = classmethod(lambda _, bounds: value_of(given, bounds))


class Subset(Index):
    """A set of members of another sort, as a sort of its own: `class Isr(Subset, of=Replica)`.

    It is used like a set of the state: `contains`, `|`, `&`, `-`, `is_subset`, `count`.
    """

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
        return 1 << int(cls.of.size(bounds))

    @classmethod
    def show(cls, number: int) -> str:
        """Return the members in braces."""
        return "{" + ", ".join(cls.of.show(i) for i in range(number.bit_length()) if number >> i & 1) + "}"

    def __iter__(self) -> Iterator[Index]:
        return (self.of(i) for i in range(self.bit_length()) if self >> i & 1)

    def __contains__(self, member: object) -> bool:
        return bool(self.contains(member))

    def __eq__(self, other: object) -> bool:
        mask = _mask(other)
        return int.__eq__(self, other) if mask is None else int(self) == mask

    def __ne__(self, other: object) -> bool:
        mask = _mask(other)
        return int.__ne__(self, other) if mask is None else int(self) != mask

    __hash__ = int.__hash__

    def contains(self, member: Any) -> Any:
        """Return whether the member is in the set."""
        if isinstance(member, int):
            return bool(int(self) >> member & 1)
        if not hasattr(member, "in_subset"):
            message = (
                f"{user_frame()}: A member of {self.of.__name__} is needed here, but {shown(member)} is of type "
                f"{type(member).__name__}."
            )
            raise ModelError(message)
        return member.in_subset(self)

    def is_subset(self, other: Any) -> Any:
        """Return whether every member is in the other set."""
        return (self - other).is_empty()

    def is_empty(self) -> bool:
        """Return whether the set has no member."""
        return int(self) == 0

    def count(self) -> int:
        """Return the number of members of the set."""
        return self.bit_count()

    length = property(count)

    def __or__(self, other: object) -> Self:
        mask = _mask(other)
        return NotImplemented if mask is None else type(self)(int(self) | mask)

    def __and__(self, other: object) -> Self:
        mask = _mask(other)
        return NotImplemented if mask is None else type(self)(int(self) & mask)

    def __sub__(self, other: object) -> Self:
        mask = _mask(other)
        return NotImplemented if mask is None else type(self)(int(self) & ~mask)

    __ror__, __rand__ = __or__, __and__


def _mask(other: object) -> int | None:
    """Return the bit mask of a set of known members, None for anything else."""
    if isinstance(other, Subset):
        return int(other)
    if not isinstance(other, (set, frozenset)):
        return None
    members = [member for member in other if isinstance(member, int)]
    return sum(1 << member for member in members) if len(members) == len(other) else None


Parameter = Index | int | Enum
"""A value of a parameter: a member of a sort or an enumeration, a number of a range, or a bool."""


def label_of(value: object) -> str:
    """Return the name of a value of a parameter or of a quantified variable."""
    if isinstance(value, Enum):
        return value.name
    return str(value).lower() if isinstance(value, bool) else str(value)


# ---------------------------------------------------------- members of a kind: a sort, a range, an enumeration, or bool


chosen_bounds: ContextVar[BoundValues | None] = ContextVar("chosen_bounds", default=None)
"""The bounds of the model that is being traced."""


@contextmanager
def under(bounds: BoundValues) -> Iterator[None]:
    """Set the bounds that decide how many members sorts and ranges have in this context."""
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
    """Return the number of members of a kind under bounds, without making them."""
    if issubclass(kind, Index) and kind not in bounds._kinds:
        return value_of(kind.size(bounds), bounds)
    return len(members_of(kind, bounds))


def members_of(kind: type, bounds: BoundValues) -> Sequence[Parameter]:
    """Return the members of a kind under bounds, in order; those of a range are plain numbers."""
    found: Sequence[Parameter] | None = bounds._kinds.get(kind)
    if found is None:
        found = bounds._kinds[kind] = _members_of(kind, bounds)
    return found


def _members_of(kind: type, bounds: BoundValues) -> Sequence[Parameter]:
    if issubclass(kind, Index):
        return kind.members(bounds)
    if issubclass(kind, Range):
        numbers = kind.numbers(bounds)
        return OpenMembers(kind, numbers.start, len(numbers)) if is_open(len(numbers)) else numbers
    return list(kind) if issubclass(kind, Enum) else (False, True)


# --------------------------------------------------------------------------------------------------------------- ranges


class Range(int):
    """The whole numbers from `lo` to `hi`, both included; subclass it to declare a range.

    Its members are plain numbers: a parameter of an action that is annotated with it is an int while it is traced.

    Attributes:
        lo: the first number, 0 by default: a number or `bound("name")`.
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
                    f"{cls.place}: the range {cls.__name__} goes from {ends[0]!r} to {ends[1]!r}; each of them must be "
                    f'a whole number or bound("name").'
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
