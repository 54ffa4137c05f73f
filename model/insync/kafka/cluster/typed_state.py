"""The state, declared by classes: each attribute is a field, with its domain, its sentence and what it depends on.

Type checkers and editors read the fields and their types from such a class. It is never instantiated: at run time its
place is taken by the state of the language, whose fields `layout` makes of the class. The attributes are in the order
of the cells, and that order decides which of several least states a trace shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, Protocol, Self, TypeVar, overload

from insync.kafka.cluster.features import Features, When, always
from insync.kafka.cluster.indices import LeaderEpoch, RecordNumber
from insync.kafka.replica import Replica
from insync.model import (
    Absent,
    Array,
    Bool,
    BoundValues,
    Condition,
    Index,
    Int,
    Num,
    Option,
    OptionValue,
    Record,
    Set,
    SetValue,
)

__all__ = [
    "Field",
    "Places",
    "brokers",
    "epoch",
    "fields_of",
    "flag",
    "layout",
    "number",
    "numbers",
    "offset",
    "optional",
    "optional_numbers",
    "part",
    "parts",
    "record_numbers",
]

G = TypeVar("G")
P = TypeVar("P")
R = TypeVar("R")
Read = TypeVar("Read", covariant=True)
Given = TypeVar("Given", contravariant=True)

Of = Callable[[BoundValues], Any]
"""Returns the domain of a field under bounds; a class of indexes is one."""

Fields = Mapping[str, object]
"""What `record` makes: the value of a record."""


class Places(Protocol[Read, Given]):
    """An array of the state: read as one type, assigned as another."""

    def __getitem__(self, index: Num | int, /) -> Read: ...
    def __setitem__(self, index: Num | int, value: Given, /) -> None: ...
    def __iter__(self) -> Iterator[Read]: ...


class Field(Generic[G, P]):
    """A field: what it reads as, and what may be assigned to it.

    Args:
        says: what the field is, in words.
        of: returns its domain.
        on: what it depends on; the state has it only where that holds.
    """

    def __init__(self, says: str, of: Callable[[BoundValues, Features], Any], on: When) -> None:
        self.says, self.of, self.on = says, of, on
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, owner: None, kind: type, /) -> Self: ...
    @overload
    def __get__(self, owner: object, kind: type, /) -> G: ...
    def __get__(self, owner: object, kind: type, /) -> Any:
        assert owner is None, "a class of fields is never instantiated"
        return self

    def __set__(self, owner: object, value: P) -> None:
        """Say to type checkers what may be assigned."""


def fields_of(kind: type) -> dict[str, Field[Any, Any]]:
    """Return the fields that a class declares, in their order."""
    return {name: one for name, one in vars(kind).items() if isinstance(one, Field)}


def layout(kind: type, b: BoundValues, features: Features) -> dict[str, Any]:
    """Return the domain of each field of a class: absent where what it depends on does not hold."""
    return {name: Absent.unless(one.on(features), one.of(b, features)) for name, one in fields_of(kind).items()}


def number(says: str, of: Of, on: When = always) -> Field[Num, Num | int]:
    """Declare a number."""
    return Field(says, lambda b, _: of(b), on)


def offset(says: str, on: When = always) -> Field[Num, Num | int]:
    """Declare an offset of a log, or an end of one, which is exclusive."""
    return number(says, lambda b: Int(0, b.records), on)


def epoch(says: str, on: When = always) -> Field[Num, Num | int]:
    """Declare a leader epoch."""
    return number(says, lambda _: LeaderEpoch, on)


def flag(says: str, on: When = always) -> Field[Bool, Condition]:
    """Declare what holds or does not."""
    return Field(says, lambda *_: Bool, on)


def brokers(says: str, on: When = always) -> Field[SetValue, SetValue | set[Any]]:
    """Declare a set of brokers."""
    return Field(says, lambda *_: Set(Replica), on)


def record_numbers(says: str, on: When = always) -> Field[SetValue, SetValue | set[Any]]:
    """Declare a set of records."""
    return Field(says, lambda *_: Set(RecordNumber), on)


def optional(says: str, of: Of, on: When = always) -> Field[OptionValue, OptionValue | Num | int | None]:
    """Declare a number that there may be."""
    return Field(says, lambda b, _: Option(of(b)), on)


def numbers(
    says: str, over: Callable[[BoundValues], type[Index] | int], of: Of, on: When = always
) -> Field[Places[Num, Num | int], object]:
    """Declare a number for each place of an array."""
    return Field(says, lambda b, _: Array(over(b), of(b)), on)


def optional_numbers(
    says: str, over: Callable[[BoundValues], type[Index] | int], of: Of, on: When = always
) -> Field[Places[OptionValue, OptionValue | Num | int | None], object]:
    """Declare a number that there may be, for each place of an array."""
    return Field(says, lambda b, _: Array(over(b), Option(of(b))), on)


def part(says: str, kind: type[R], on: When = always) -> Field[R, R | Fields]:
    """Declare a record, whose fields are those of a class."""
    return Field(says, lambda b, features: Record(**layout(kind, b, features)), on)


def parts(
    says: str, over: Callable[[BoundValues], type[Index] | int], kind: type[R], on: When = always
) -> Field[Places[R, R | Fields], object]:
    """Declare a record for each place of an array."""
    return Field(says, lambda b, features: Array(over(b), Record(**layout(kind, b, features))), on)
